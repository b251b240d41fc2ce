package io.firstclaim.processor.service.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
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
  void claimsAndTakeovers_areCounted() {
    metrics.claimed("held");
    metrics.tookOver();

    assertShows("firstclaim_claims_total{result=\"held\"} 1.0");
    assertShows("firstclaim_takeovers_total 1.0");
  }

  @Test
  void storeCalls_areCountedAndTimed() {
    metrics.called("claim", "ok", Duration.ofMillis(250));
    metrics.called("claim", "refused", Duration.ofMillis(250));

    assertShows("firstclaim_store_requests_total{op=\"claim\",result=\"ok\"} 1.0");
    assertShows("firstclaim_store_requests_total{op=\"claim\",result=\"refused\"} 1.0");
    assertShows("firstclaim_store_seconds_count{op=\"claim\"} 2");
    assertShows("firstclaim_store_seconds_sum{op=\"claim\"} 0.5");
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
