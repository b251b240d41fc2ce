package io.firstclaim.processor.service.health;

import io.firstclaim.processor.service.instance.Served;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import jakarta.inject.Singleton;
import java.util.Map;
import org.reactivestreams.Publisher;

/** Whether the instance takes records, or claims, at all: not once it was told to stop. */
@Singleton
@Readiness
class InstanceHealth implements HealthIndicator {
  private final Served service;

  InstanceHealth(Served service) {
    this.service = service;
  }

  @Override
  public Publisher<HealthResult> getResult() {
    return Publishers.just(
        service.isStopping()
            ? HealthResult.builder("instance", HealthStatus.DOWN)
                .details(Map.of("fault", "it was told to stop"))
                .build()
            : HealthResult.builder("instance", HealthStatus.UP).build());
  }
}
