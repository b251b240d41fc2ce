package io.firstclaim.processor.service.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.StoreOperation;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MetersTest {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final EngineMetrics metrics = new EngineMetrics(registry);

  @Test
  void deliveriesAndTakeovers_areThoseOfTheMetrics() {
    metrics.delivered(Delivered.DUPLICATE);
    metrics.delivered(Delivered.DUPLICATE);
    metrics.tookOver();

    Meters meters = metrics.meters();

    assertThat(meters.deliveries()).containsEntry("duplicate", 2L).containsEntry("dead", 0L);
    assertThat(meters.takeovers()).isEqualTo(1);
  }

  @Test
  void storeCalls_areOneTiming_whateverTheOperation() {
    metrics.called(StoreOperation.CLAIM, StoreOperation.Result.OK, Duration.ofMillis(4));
    metrics.called(StoreOperation.COMPLETE, StoreOperation.Result.OK, Duration.ofMillis(400));

    Meters.Timing store = metrics.meters().store();

    assertThat(store.count()).isEqualTo(2);
    assertThat(store.millis()).isEqualTo(404);
    assertThat(store.buckets()).extracting(Meters.Bucket::count).containsExactly(1L, 2L);
    assertThat(store.buckets().getFirst().millis()).isBetween(4.0, 6.0);
    assertThat(store.buckets().getLast().millis()).isBetween(400.0, 500.0);
  }
}
