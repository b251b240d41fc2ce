package io.firstclaim.micronaut.config;

import io.firstclaim.lock.deduplicator.RunMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Requires;
import jakarta.inject.Singleton;

/** Has runs of listeners, handlers and jobs counted and timed, where there is Micrometer. */
@Factory
@Requires(classes = MeterRegistry.class)
final class MetricsFactory {
  @Singleton
  @Requires(beans = MeterRegistry.class)
  @Requires(missingBeans = RunMetrics.class)
  RunMetrics runMetrics(MeterRegistry registry) {
    return new RunMetrics(registry);
  }
}
