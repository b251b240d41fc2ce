package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.SettingsReader;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.handler.OwnHandlers;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Replaces;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.env.Environment;
import jakarta.inject.Singleton;

/** What the tests of HTTP have beside the service's own beans, or in their place. */
@Factory
final class TestBeans {
  /** The settings, which the service reads when it starts. */
  @Singleton
  @Requires(condition = TakesRecords.class)
  ServiceSettings settings(Environment environment, OwnHandlers own) {
    return SettingsReader.read(environment, own);
  }

  /** Claims in memory, which tests make and end as they like. */
  @Singleton
  @Requires(condition = TakesRecords.class)
  @Replaces(ClaimOperations.class)
  MemoryClaimStore claims() {
    return new MemoryClaimStore(ClaimSettings.of("orders", "a/one"), TimeSource.system());
  }
}
