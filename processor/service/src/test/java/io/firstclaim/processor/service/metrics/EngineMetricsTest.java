package io.firstclaim.processor.service.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.engine.api.EngineListener.Claimed;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.ShadowFinding;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.junit.jupiter.api.Test;

/** The names are the contract's: dashboards and alerts rest on them. */
class EngineMetricsTest {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final EngineMetrics metrics = new EngineMetrics(registry);

  private void assertShows(String line) {
    assertThat(registry.scrape().lines()).contains(line);
  }

  @Test
  void deliveries_areCountedByResult_andAllResultsAreThereFromTheStart() {
    for (String result :
        new String[] {"completed", "duplicate", "failed", "dead", "lost", "mismatch"}) {
      assertShows("firstclaim_deliveries_total{result=\"%s\"} 0.0".formatted(result));
    }

    metrics.delivered(Delivered.COMPLETED);
    metrics.delivered(Delivered.COMPLETED);

    assertShows("firstclaim_deliveries_total{result=\"completed\"} 2.0");
  }

  @Test
  void auditThatDoesNotRun_isSaidToBeDown_andHasFoundNothing_notEvenThatThereIsNothing() {
    Audit audit =
        new Audit(
            new AuditSettings(
                "orders",
                "orders",
                "a",
                "orders.outcomes",
                "orders.violations",
                Duration.ofDays(8),
                Duration.ofMinutes(5),
                new Address("127.0.0.1", 8080),
                Path.of("target", "no-audit"),
                false,
                Map.of()),
            TimeSource.system());

    metrics.observe(audit);

    assertShows("firstclaim_audit_running 0.0");
    assertThat(registry.scrape()).doesNotContain("firstclaim_violations", "firstclaim_stuck");
  }

  private static EngineState.Running running(Optional<String> paused) {
    return new EngineState.Running(
        0,
        0,
        0,
        0,
        0,
        TimeSource.system().now(),
        Optional.empty(),
        0,
        Optional.empty(),
        paused,
        Optional.empty());
  }

  @Test
  void pause_isToBeSeen_whileItLasts_andNotBeforeTheEngineRuns() {
    AtomicReference<EngineState> engine =
        new AtomicReference<>(new EngineState.Starting("the lock store"));
    metrics.observe(engine::get);
    assertShows("firstclaim_paused 0.0");

    engine.set(running(Optional.of("otto: a look")));
    assertShows("firstclaim_paused 1.0");

    engine.set(running(Optional.empty()));
    assertShows("firstclaim_paused 0.0");
  }

  @Test
  void readiness_isToBeSeen_asItIsNow() {
    AtomicBoolean isReady = new AtomicBoolean();
    metrics.observeReadiness(isReady::get);
    assertShows("firstclaim_ready 0.0");

    isReady.set(true);
    assertShows("firstclaim_ready 1.0");
  }

  @Test
  void claimsAndTakeovers_areCounted() {
    metrics.claimed(Claimed.HELD);
    metrics.tookOver();

    assertShows("firstclaim_claims_total{result=\"held\"} 1.0");
    assertShows("firstclaim_takeovers_total 1.0");
  }

  @Test
  void findingsOfShadowMode_areCounted() {
    metrics.found(ShadowFinding.OTHER_ZONE);
    metrics.found(ShadowFinding.OTHER_ZONE);

    assertShows("firstclaim_shadow_total{finding=\"other_zone\"} 2.0");
  }

  @Test
  void storeCalls_areCountedAndTimed() {
    metrics.called(StoreOperation.CLAIM, StoreOperation.Result.OK, Duration.ofMillis(250));
    metrics.called(StoreOperation.CLAIM, StoreOperation.Result.REFUSED, Duration.ofMillis(250));

    assertShows("firstclaim_store_requests_total{op=\"claim\",result=\"ok\"} 1.0");
    assertShows("firstclaim_store_requests_total{op=\"claim\",result=\"refused\"} 1.0");
    assertShows("firstclaim_store_seconds_count{op=\"claim\"} 2");
    assertShows("firstclaim_store_seconds_sum{op=\"claim\"} 0.5");
  }

  @Test
  void storeWrites_areCounted_eachOfThoseInOneCall() {
    metrics.wrote(StoreOperation.COMPLETE, 25);
    metrics.wrote(StoreOperation.COMPLETE, 1);

    assertShows("firstclaim_store_writes_total{op=\"complete\"} 26.0");
  }

  @Test
  void refusedWrites_areCounted_aloneAndAmongOthers() {
    metrics.called(StoreOperation.CLAIM, StoreOperation.Result.REFUSED, Duration.ofMillis(250));
    metrics.called(StoreOperation.CLAIM, StoreOperation.Result.OK, Duration.ofMillis(250));
    metrics.refused(StoreOperation.CLAIM, 3);

    assertShows("firstclaim_store_refused_total{op=\"claim\"} 4.0");
    assertShows("firstclaim_store_requests_total{op=\"claim\",result=\"refused\"} 1.0");
  }

  @Test
  void commitFailures_areCounted_andThereFromTheStart() {
    assertShows("firstclaim_commit_failures_total 0.0");
    assertShows("firstclaim_too_old_total 0.0");

    metrics.commitFailed();
    metrics.tooOld();

    assertShows("firstclaim_commit_failures_total 1.0");
    assertShows("firstclaim_too_old_total 1.0");
  }

  @Test
  void kafkasOwnMetrics_areThere_withoutThoseOfEachPartitionAndBroker() {
    registry.config().meterFilter(EngineMetrics.bounded());
    try (var producer = new MockProducer<byte[], byte[]>()) {
      for (Map<String, String> tags :
          List.of(
              Map.of("client-id", "c"),
              Map.of("client-id", "c", "topic", "in", "partition", "0"),
              Map.of("client-id", "c", "node-id", "node-1"))) {
        MetricName name = new MetricName("lag" + tags.size(), "consumer-metrics", "", tags);
        producer.setMockMetrics(name, new Lag(name));
      }
      metrics.opened(producer);
    }

    assertThat(registry.scrape().lines().filter(line -> line.startsWith("kafka_")))
        .containsExactly("kafka_consumer_lag1{client_id=\"c\",kafka_version=\"unknown\"} 7.0");
  }

  @Test
  void metricsOfAConsumer_areGone_whenItWasReplaced() {
    MetricName name = new MetricName("lag", "consumer-metrics", "", Map.of("client-id", "c"));
    try (var consumer =
        new MockConsumer<byte[], byte[]>("earliest") {
          @Override
          public synchronized Map<MetricName, ? extends Metric> metrics() {
            return Map.of(name, new Lag(name));
          }
        }) {
      metrics.opened(consumer);
      assertThat(registry.scrape()).contains("kafka_consumer_lag");

      metrics.replaced(consumer);

      assertThat(registry.scrape()).doesNotContain("kafka_consumer_lag");
    }
  }

  @Test
  void whatAConsumerTellsOfAll_stays_whereItTellsTheSameOfEachPartition() {
    registry.config().meterFilter(EngineMetrics.bounded());
    MetricName ofAll = new MetricName("lag", "consumer-metrics", "", Map.of("client-id", "c"));
    MetricName ofOne =
        new MetricName(
            "lag",
            "consumer-metrics",
            "",
            Map.of("client-id", "c", "topic", "in", "partition", "0"));
    try (var consumer =
        new MockConsumer<byte[], byte[]>("earliest") {
          @Override
          public synchronized Map<MetricName, ? extends Metric> metrics() {
            return Map.of(ofAll, new Lag(ofAll), ofOne, new Lag(ofOne));
          }
        }) {
      metrics.opened(consumer);
    }

    assertThat(registry.scrape().lines().filter(line -> line.startsWith("kafka_")))
        .containsExactly("kafka_consumer_lag{client_id=\"c\",kafka_version=\"unknown\"} 7.0");
  }

  private record Lag(MetricName metricName) implements Metric {
    @Override
    public Object metricValue() {
      return 7.0;
    }
  }

  @Test
  void handlers_areTimed() {
    metrics.handled(Duration.ofMillis(1500));

    assertShows("firstclaim_handler_seconds_count 1");
    assertShows("firstclaim_handler_seconds_sum 1.5");
  }

  @Test
  void clockSkew_isInSeconds() {
    metrics.clockSkew(Duration.ofMillis(-1500));

    assertShows("firstclaim_clock_skew_seconds -1.5");
  }
}
