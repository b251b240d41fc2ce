package io.firstclaim.processor.service.health;

import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.service.instance.Service;
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
    Optional<String> fault =
        switch (service.state()) {
          case EngineState.Starting(String what) -> Optional.of("waits for " + what);
          case EngineState.Running running -> running.storeFault();
          case EngineState.Ended _ -> Optional.of("ended");
        };
    healthStatus = fault.isEmpty() ? HealthStatus.UP : HealthStatus.DOWN;
    return fault.<Map<String, Object>>map(why -> Map.of("fault", why)).orElse(Map.of());
  }
}
