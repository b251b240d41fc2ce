package io.firstclaim.processor.service.health;

import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.instance.Service;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import io.micronaut.context.BeanProvider;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.event.ApplicationEventListener;
import io.micronaut.runtime.server.event.ServerStartupEvent;
import jakarta.inject.Singleton;

/**
 * Whether nothing that health knows of keeps the instance from taking records, as a metric. The
 * service is made by who starts it, and not here: what is wrong with it would be told as if the
 * server could not start.
 */
@Singleton
@Requires(condition = TakesRecords.class)
class ReadyMetric implements ApplicationEventListener<ServerStartupEvent> {
  private final BeanProvider<Service> service;
  private final BeanProvider<KafkaHealth> kafka;
  private final EngineMetrics metrics;

  ReadyMetric(
      BeanProvider<Service> service, BeanProvider<KafkaHealth> kafka, EngineMetrics metrics) {
    this.service = service;
    this.kafka = kafka;
    this.metrics = metrics;
  }

  /** Adds it once there is a server that can be asked for it. */
  @Override
  public void onApplicationEvent(ServerStartupEvent event) {
    metrics.observeReadiness(() -> isReady(service.get()));
  }

  private boolean isReady(Service of) {
    return !of.isStopping()
        && of.state() instanceof EngineState.Running running
        && running.storeFault().isEmpty()
        && running.lifeFault().isEmpty()
        && kafka.get().isUp(running);
  }
}
