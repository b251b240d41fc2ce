package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.service.config.KnownHandlers;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.SettingsReader;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Replaces;
import io.micronaut.context.env.Environment;
import jakarta.inject.Singleton;
import java.util.List;

/** What the tests of HTTP have beside the service's own beans, or in their place. */
@Factory
final class TestBeans {
  private static final KnownHandlers NONE =
      new KnownHandlers() {
        @Override
        public List<String> names() {
          return List.of();
        }

        @Override
        public boolean has(String name) {
          return false;
        }
      };

  /** The settings, which the service reads when it starts. */
  @Singleton
  ServiceSettings settings(Environment environment) {
    return SettingsReader.read(environment, NONE);
  }

  /** Claims in memory, which tests make and end as they like. */
  @Singleton
  @Replaces(ClaimOperations.class)
  MemoryClaimStore claims() {
    return new MemoryClaimStore(ClaimSettings.of("orders", "a/one"), TimeSource.system());
  }
}
