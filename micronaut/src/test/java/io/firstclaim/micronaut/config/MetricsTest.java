package io.firstclaim.micronaut.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunMetrics;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.micronaut.Deduplicated;
import io.firstclaim.micronaut.IdempotencyKey;
import io.firstclaim.stack.server.KafkaBroker;
import io.firstclaim.stack.server.SharedServers;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micronaut.configuration.kafka.annotation.ErrorStrategy;
import io.micronaut.configuration.kafka.annotation.ErrorStrategyValue;
import io.micronaut.configuration.kafka.annotation.KafkaListener;
import io.micronaut.configuration.kafka.annotation.OffsetReset;
import io.micronaut.configuration.kafka.annotation.OffsetStrategy;
import io.micronaut.configuration.kafka.annotation.Topic;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Runs in the registry that Micronaut makes, or without one. */
class MetricsTest {
  private static ApplicationContext run(FaultyStore store, Object... settings) {
    Map<String, Object> all = new HashMap<>();
    all.put("kafka.enabled", false);
    all.put("micronaut.security.enabled", false);
    all.put("micronaut.server.port", -1);
    all.put("micronaut.server.host", "127.0.0.1");
    for (int i = 0; i < settings.length; i += 2) {
      all.put((String) settings[i], settings[i + 1]);
    }
    return ApplicationContext.builder()
        .deduceEnvironment(false)
        .properties(all)
        .singletons(store)
        .start();
  }

  private static FaultyStore store() {
    return new FaultyStore(
        new MemoryClaimStore(ClaimSettings.of("shop", "a1"), TimeSource.system()));
  }

  private static long count(ApplicationContext context, String result) {
    Timer timer =
        context.getBean(MeterRegistry.class).find("firstclaim.runs").tag("result", result).timer();
    return timer == null ? 0 : timer.count();
  }

  private static void eventually(ApplicationContext context, String result, long count) {
    Awaitility.await()
        .pollInterval(Duration.ofMillis(20))
        .atMost(Duration.ofMinutes(10))
        .until(() -> count(context, result) >= count);
  }

  @Test
  void runs_areCountedAndTimed_byHowTheyEnded() throws Exception {
    FaultyStore store = store();
    try (ApplicationContext context =
        run(store, "firstclaim.retry.backoff", "1h", "firstclaim.retry.max-backoff", "1h")) {
      Deduplicator deduplicator = context.getBean(Deduplicator.class);
      for (int i = 0; i < 3; i++) {
        deduplicator.run(RecordId.of("1"), Fingerprint.none(), lease -> null);
      }
      deduplicator.run(
          RecordId.of("2"),
          Fingerprint.none(),
          lease -> {
            throw new IllegalStateException("card declined");
          });
      deduplicator.run(RecordId.of("2"), Fingerprint.none(), lease -> null);

      assertThat(count(context, "ran")).isOne();
      assertThat(count(context, "done_before")).isEqualTo(2);
      assertThat(count(context, "failed")).isOne();
      assertThat(count(context, "not_due")).isOne();
      assertThat(
              context
                  .getBean(MeterRegistry.class)
                  .get("firstclaim.runs")
                  .tag("result", "ran")
                  .timer()
                  .totalTime(TimeUnit.NANOSECONDS))
          .isPositive();
    }
  }

  @Test
  void runs_areDoneAllTheSame_whereMetricsAreSwitchedOff() throws Exception {
    try (ApplicationContext context = run(store(), "micronaut.metrics.enabled", false)) {
      assertThat(
              context
                  .getBean(Deduplicator.class)
                  .run(RecordId.of("1"), Fingerprint.none(), lease -> "paid"))
          .isEqualTo(new RunResult.Ran("paid"));
      assertThat(context.containsBean(RunMetrics.class)).isFalse();
    }
  }

  @Requires(property = "metrics", value = "jobs")
  @Singleton
  static class EachSecond {
    @Scheduled(cron = "* * * * * *")
    @Deduplicated(name = "each-second")
    void run() {}
  }

  @Test
  void runsOfJobs_areAmongThem() {
    try (ApplicationContext context = run(store(), "metrics", "jobs")) {
      eventually(context, "ran", 2);
    }
  }

  @Requires(property = "metrics", value = "handlers")
  @Controller
  static class Payments {
    @Post("/payments")
    @IdempotencyKey
    void pay() {}
  }

  @Test
  void runsOfHandlers_areAmongThem() throws Exception {
    try (ApplicationContext context = run(store(), "metrics", "handlers");
        HttpClient client = HttpClient.newHttpClient()) {
      EmbeddedServer server = context.getBean(EmbeddedServer.class).start();
      HttpRequest request =
          HttpRequest.newBuilder(
                  URI.create("http://127.0.0.1:%d/payments".formatted(server.getPort())))
              .header("Idempotency-Key", "\"1\"")
              .POST(BodyPublishers.noBody())
              .build();
      for (int i = 0; i < 3; i++) {
        assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
      }
      eventually(context, "done_before", 2);
      assertThat(count(context, "ran")).isOne();
    }
  }

  @Requires(property = "metrics", value = "listeners")
  @KafkaListener(
      groupId = "measured",
      offsetReset = OffsetReset.EARLIEST,
      offsetStrategy = OffsetStrategy.SYNC_PER_RECORD,
      errorStrategy =
          @ErrorStrategy(
              value = ErrorStrategyValue.RETRY_ON_ERROR,
              retryDelay = "100ms",
              retryCount = Integer.MAX_VALUE),
      properties = @Property(name = "max.poll.records", value = "1"))
  static class Listener {
    @Topic("measured")
    @Deduplicated(name = "payments", id = "header:id")
    void hear(String value) {}
  }

  @Test
  void runsOfListeners_areAmongThem() {
    KafkaBroker broker = SharedServers.kafka();
    broker.createTopic("measured", 1);
    try (KafkaProducer<String, String> producer = broker.producer()) {
      for (int i = 0; i < 3; i++) {
        ProducerRecord<String, String> record = new ProducerRecord<>("measured", "v");
        record.headers().add("id", "1".getBytes(UTF_8));
        var _ = producer.send(record);
      }
    }
    try (ApplicationContext context =
        run(
            store(),
            "metrics",
            "listeners",
            "kafka.enabled",
            true,
            "kafka.bootstrap.servers",
            broker.bootstrapServers())) {
      eventually(context, "done_before", 2);
      assertThat(count(context, "ran")).isOne();
    }
  }
}
