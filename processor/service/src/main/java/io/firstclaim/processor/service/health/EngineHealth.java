package io.firstclaim.processor.service.health;

import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.instance.Service;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Liveness;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.Optional;
import org.reactivestreams.Publisher;

/**
 * Whether records can be processed, or only a restart of the process helps. Answers on the thread
 * that asks: Micronaut's own way takes a virtual thread, and none may be running.
 */
@Singleton
@Liveness
@Requires(condition = TakesRecords.class)
class EngineHealth implements HealthIndicator {
  private final Service service;

  EngineHealth(Service service) {
    this.service = service;
  }

  @Override
  public Publisher<HealthResult> getResult() {
    Optional<String> fault =
        service.state() instanceof EngineState.Running running
            ? running.lifeFault()
            : Optional.empty();
    HealthStatus status = fault.isEmpty() ? HealthStatus.UP : HealthStatus.DOWN;
    HealthResult.Builder result = HealthResult.builder("engine", status);
    fault.ifPresent(why -> result.details(Map.of("fault", why)));
    return Publishers.just(result.build());
  }
}
