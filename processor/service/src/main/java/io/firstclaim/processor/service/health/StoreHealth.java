package io.firstclaim.processor.service.health;

import io.firstclaim.processor.engine.consumer.Engine;
import io.firstclaim.processor.service.Service;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.AbstractHealthIndicator;
import io.micronaut.management.health.indicator.annotation.Readiness;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.Optional;

/** Whether the lock store answered when it was last asked. */
@Singleton
@Readiness
class StoreHealth extends AbstractHealthIndicator<Map<String, Object>> {
  private final Service service;

  StoreHealth(Service service) {
    this.service = service;
  }

  @Override
  protected String getName() {
    return "store";
  }

  @Override
  protected Map<String, Object> getHealthInformation() {
    String fault = service.engine().map(Engine::storeFault).orElse(null);
    boolean up = service.engine().isPresent() && fault == null;
    healthStatus = up ? HealthStatus.UP : HealthStatus.DOWN;
    return up
        ? Map.of()
        : Map.of(
            "fault", Optional.ofNullable(fault).orElseGet(() -> "waits for " + service.waitsFor()));
  }
}
