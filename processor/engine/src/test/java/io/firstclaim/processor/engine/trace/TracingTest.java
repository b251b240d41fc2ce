package io.firstclaim.processor.engine.trace;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.EngineListener.Claimed;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class TracingTest {
  private static final int RECORDS = 100_000;
  private static final RecordId ID = RecordId.of("order-1");
  private static final HandlerResult DONE = HandlerResult.done();
  private static final RecordHandler HANDLER = _ -> DONE;
  private static final ConsumerRecord<byte[], byte[]> RECORD =
      new ConsumerRecord<>("in", 0, 0, new byte[0], new byte[0]);

  /** All that an engine says of a record that is completed. */
  private static void completed(Tracing tracing) {
    Trace trace = tracing.begin(RECORD);
    trace.identified(ID);
    String _ = trace.id();
    trace.waits(WaitsFor.PLACE);
    trace.claims();
    trace.claimed(Claimed.GRANTED);
    trace.granted(1, 1);
    RecordHandler _ = trace.handles(HANDLER);
    trace.handled(DONE);
    trace.settles();
    trace.delivered(Delivered.COMPLETED);
    trace.end();
  }

  @Test
  void tracingThatIsOff_allocatesNothing() {
    Tracing off = Tracing.by(OpenTelemetry.noop(), "a", "orders-a");
    assertThat(off).isSameAs(Tracing.OFF);
    assertThat(off.begin(RECORD)).isSameAs(Trace.NONE);
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    completed(off);

    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < RECORDS; i++) {
      completed(off);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertThat(allocated).as("bytes for %d records", RECORDS).isLessThan(RECORDS / 10);
  }

  @Test
  void abandonedAttempt_isOver_andTheNextIsLinkedToIt() {
    InMemorySpanExporter exporter = InMemorySpanExporter.create();
    try (OpenTelemetrySdk telemetry =
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                    .build())
            .build()) {
      Trace trace = Tracing.by(telemetry, "a", "orders-a").begin(RECORD);
      RecordHandler _ = trace.handles(HANDLER);
      trace.abandoned();
      trace.waits(WaitsFor.PLACE);
      trace.delivered(Delivered.COMPLETED);
      trace.end();

      List<SpanData> spans = exporter.getFinishedSpanItems();
      List<SpanData> attempts =
          spans.stream().filter(span -> span.getName().equals("process in")).toList();
      assertThat(attempts)
          .extracting(
              span -> span.getAttributes().get(AttributeKey.stringKey("firstclaim.outcome")))
          .containsExactly("ABANDONED", "COMPLETED");
      assertThat(attempts.getLast().getLinks())
          .singleElement()
          .satisfies(
              link ->
                  assertThat(link.getSpanContext())
                      .isEqualTo(attempts.getFirst().getSpanContext()));
      assertThat(spans).as("attempts, and wait, handle, wait").hasSize(5);
    }
  }
}
