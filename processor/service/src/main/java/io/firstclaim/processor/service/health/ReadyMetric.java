package io.firstclaim.processor.service.health;

import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.instance.Service;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.event.ApplicationEventListener;
import io.micronaut.runtime.server.event.ServerStartupEvent;
import jakarta.inject.Singleton;

/** Whether nothing that health knows of keeps the instance from taking records, as a metric. */
@Singleton
@Requires(condition = TakesRecords.class)
class ReadyMetric implements ApplicationEventListener<ServerStartupEvent> {
  private final Service service;
  private final KafkaHealth kafka;
  private final EngineMetrics metrics;

  ReadyMetric(Service service, KafkaHealth kafka, EngineMetrics metrics) {
    this.service = service;
    this.kafka = kafka;
    this.metrics = metrics;
  }

  /** Adds it before anybody can ask for metrics. */
  @Override
  public void onApplicationEvent(ServerStartupEvent event) {
    metrics.observeReadiness(this::isReady);
  }

  private boolean isReady() {
    return !service.isStopping()
        && service.state() instanceof EngineState.Running running
        && running.storeFault().isEmpty()
        && running.lifeFault().isEmpty()
        && kafka.isUp(running);
  }
}
