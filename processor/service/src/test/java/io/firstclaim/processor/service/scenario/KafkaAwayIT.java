package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.KafkaBroker;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What an instance tells of itself while its broker does not answer. */
class KafkaAwayIT {
  private static final int MANY = 100;

  @TempDir static Path folder;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 1);

  @Test
  void dryRunsThatWaitForKafka_holdUpNobodyWhoLooks_andHealthAsksOnceAtATime() throws Exception {
    try (KafkaBroker broker = KafkaBroker.start(JvmTuning.SHORT_RUN);
        ExecutorService callers = Executors.newCachedThreadPool()) {
      broker.createTopic(scenario.topic(), 1);
      Zone a =
          scenario
              .zone("a")
              .set("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrapServers())
              .operatedWith(Operator.TOKEN, folder);
      a.launch();
      a.awaitReady();
      scenario.eventually(
          "acts are read",
          () ->
              assertThat(
                      Operator.get(a, "/api/summary").path("instance").path("actsFault").isNull())
                  .isTrue());
      int before = threads(a);

      broker.pause();
      List<Future<Integer>> healths = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        healths.add(callers.submit(() -> status(a, "/health/readiness")));
      }
      List<Future<Operator.Refusal>> dryRuns = new ArrayList<>();
      // On a busy machine it may take longer to look than the dry runs wait.
      scenario.eventually(
          "the summary is told while dry runs wait",
          () -> {
            List<Future<Operator.Refusal>> waiting = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
              waiting.add(callers.submit(() -> dryRun(a)));
            }
            dryRuns.addAll(waiting);
            JsonNode summary = Operator.get(a, "/api/summary");
            assertThat(summary.path("instance").path("state").asText()).isEqualTo("RUNNING");
            assertThat(waiting).as("which still wait").noneMatch(Future::isDone);
          });
      assertThat(threads(a) - before).as("threads for %d requests", MANY).isLessThan(MANY / 2);
      for (Future<Operator.Refusal> dryRun : dryRuns) {
        assertThat(dryRun.get().status()).isEqualTo(503);
        assertThat(dryRun.get().error()).contains("Kafka does not answer");
      }
      for (Future<Integer> health : healths) {
        assertThat(health.get()).isIn(200, 503);
      }
      scenario.eventually(
          "health is down", () -> assertThat(status(a, "/health/readiness")).isEqualTo(503));
      scenario.eventually(
          "metrics say so", () -> assertThat(Operator.metrics(a)).contains("firstclaim_ready 0.0"));
      broker.resume();
      scenario.eventually(
          "metrics say that it is ready, whoever else looks",
          () -> assertThat(Operator.metrics(a)).contains("firstclaim_ready 1.0"));
      scenario.eventually(
          "health is up", () -> assertThat(status(a, "/health/readiness")).isEqualTo(200));
    }
  }

  private Operator.Refusal dryRun(Zone zone) throws Exception {
    return Operator.firstRefusal(
        zone, "/api/redrive", Map.of("topic", scenario.topic(), "dryRun", true));
  }

  private static int status(Zone zone, String path) throws Exception {
    return zone.send(HttpRequest.newBuilder(zone.uri(path)).GET().build()).statusCode();
  }

  private static int threads(Zone zone) throws Exception {
    return Operator.metrics(zone)
        .filter(line -> line.startsWith("jvm_threads_live"))
        .map(line -> (int) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .findFirst()
        .orElseThrow();
  }
}
