package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.stack.server.FreePort;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Traces of the packaged service: turned on in one zone, and off, as by default, in the other. */
class TracedIT {
  private static final int RECORDS = 30;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 1);

  private static String traceOf(int record) {
    return "0af7651916cd43dd8448eb211c80%04x".formatted(record);
  }

  private static @Nullable String traceparent(Call call) {
    return call.headers().getFirst("traceparent");
  }

  @Test
  void tracedZone_goesOnWithTheProducersTraces_andSendsTheLastSpansAtItsStop() throws Exception {
    try (Collector collector = new Collector()) {
      Zone traced =
          collector
              .tracing(scenario.zone("a").patient(), "3600000")
              .set("FIRSTCLAIM_LOG_FORMAT", "json");
      Zone untraced = scenario.zone("b").patient();
      scenario.start(traced, untraced);
      scenario.sink().behave(call -> call.attempt() == 1 ? 500 : 200);
      Map<String, String> traces = new TreeMap<>();
      for (int i = 0; i < RECORDS; i++) {
        String id = "event-" + i;
        traces.put(id, traceOf(i));
        byte[] traceparent = "00-%s-b7ad6b7169203331-01".formatted(traceOf(i)).getBytes(UTF_8);
        var _ =
            scenario
                .feed()
                .send(
                    scenario
                        .feed()
                        .message(
                            id.getBytes(UTF_8),
                            "card Visa4111".getBytes(UTF_8),
                            List.of(new RecordHeader("traceparent", traceparent))));
      }
      scenario.awaitCompleted(traces.keySet());
      scenario.awaitAtTheEnd(traced, untraced);

      assertThat(collector.received()).as("spans, before they are due").isEmpty();
      traced.terminate();
      assertThat(traced.awaitEnd(Scenario.PATIENCE)).isTrue();
      assertThat(traced.exitCode()).isZero();

      List<Call> inTrace = scenario.sink().callsBy("a");
      assertThat(inTrace)
          .isNotEmpty()
          .allMatch(
              call ->
                  String.valueOf(traceparent(call))
                      .startsWith("00-" + traces.get(call.id()) + "-"));
      assertThat(inTrace)
          .extracting(TracedIT::traceparent)
          .doesNotHaveDuplicates()
          .noneMatch(traceparent -> traceparent.contains("b7ad6b7169203331"));
      assertThat(scenario.sink().callsBy("b"))
          .isNotEmpty()
          .allMatch(call -> traceparent(call) == null);
      assertThat(collector.received())
          .contains("process " + scenario.topic())
          .contains("wait", "claim", "handle", "settle", "COMPLETED", "FAILED", "DUPLICATE")
          .contains(traces.values().stream().map(Collector::idOf).toList())
          .doesNotContain("Visa4111", "/health", "/prometheus");
      assertThat(traced.logText().lines().filter(line -> line.contains("failed, next in")))
          .isNotEmpty()
          .allMatch(line -> line.contains("\"trace_id\":\"0af7651916cd43dd8448eb211c80"));
      assertThat(untraced.logText())
          .contains("failed, next in")
          .doesNotContain("trace=", "opentelemetry");
    }
  }

  @Test
  void collectorThatIsAway_holdsUpNoRecordAndNoStop_andIsSaidInTheLogsFormat() {
    Zone zone =
        scenario
            .zone("a")
            .set("OTEL_TRACES_EXPORTER", "otlp")
            .set("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:" + FreePort.next())
            .set("OTEL_JAVA_EXPORTER_OTLP_RETRY_DISABLED", "true")
            .set("OTEL_BSP_SCHEDULE_DELAY", "100")
            .set("FIRSTCLAIM_LOG_FORMAT", "json");
    scenario.start(zone);
    List<String> ids = Feed.ids("event", RECORDS);
    scenario.feed().send(ids);
    scenario.awaitCompleted(ids);
    scenario.awaitAtTheEnd(zone);
    scenario.eventually(
        "the failure is logged",
        () -> assertThat(zone.logText()).contains("\"loggerName\":\"io.opentelemetry."));

    zone.terminate();

    assertThat(zone.awaitEnd(Scenario.PATIENCE)).isTrue();
    assertThat(zone.exitCode()).isZero();
    assertThat(zone.logText().lines().filter(line -> !line.startsWith("WARNING: ")))
        .as("all but what the JVM says of old libraries")
        .allMatch(line -> line.startsWith("{"));
  }
}
