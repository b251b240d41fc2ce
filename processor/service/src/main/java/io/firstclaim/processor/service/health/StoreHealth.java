package io.firstclaim.processor.service.health;

import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.instance.Service;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.Optional;
import org.reactivestreams.Publisher;

/** Whether the lock store answered when it was last asked. */
@Singleton
@Readiness
@Requires(condition = TakesRecords.class)
class StoreHealth implements HealthIndicator {
  private final Service service;

  StoreHealth(Service service) {
    this.service = service;
  }

  @Override
  public Publisher<HealthResult> getResult() {
    Optional<String> fault =
        switch (service.state()) {
          case EngineState.Starting(String what) -> Optional.of("waits for " + what);
          case EngineState.Running running -> running.storeFault();
          case EngineState.Ended _ -> Optional.of("ended");
        };
    HealthStatus status = fault.isEmpty() ? HealthStatus.UP : HealthStatus.DOWN;
    Map<String, String> details = fault.map(why -> Map.of("fault", why)).orElse(Map.of());
    return Publishers.just(HealthResult.builder("store", status).details(details).build());
  }
}
