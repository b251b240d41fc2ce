package io.firstclaim.processor.service.health;

import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import io.micronaut.context.BeanProvider;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.event.ApplicationEventListener;
import io.micronaut.runtime.server.event.ServerStartupEvent;
import jakarta.inject.Singleton;

/** Whether an instance that serves claims alone can, as a metric. */
@Singleton
@Requires(condition = TakesRecords.Not.class)
class ClaimServerReadyMetric implements ApplicationEventListener<ServerStartupEvent> {
  private final BeanProvider<ClaimServerHealth> health;
  private final EngineMetrics metrics;

  ClaimServerReadyMetric(BeanProvider<ClaimServerHealth> health, EngineMetrics metrics) {
    this.health = health;
    this.metrics = metrics;
  }

  /** Adds it once there is a server that can be asked for it. */
  @Override
  public void onApplicationEvent(ServerStartupEvent event) {
    metrics.observeReadiness(() -> health.get().isUp());
  }
}
