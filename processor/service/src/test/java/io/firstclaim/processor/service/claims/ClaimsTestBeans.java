package io.firstclaim.processor.service.claims;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.processor.service.config.ClaimServerSettings;
import io.firstclaim.processor.service.config.SettingsReader;
import io.firstclaim.processor.service.config.TakesRecords;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Replaces;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.env.Environment;
import jakarta.inject.Singleton;

/** What the tests of a server of claims alone have in place of the service's own beans. */
@Factory
@Requires(condition = TakesRecords.Not.class)
final class ClaimsTestBeans {
  /** The settings, which the service reads when it starts. */
  @Singleton
  ClaimServerSettings settings(Environment environment) {
    return SettingsReader.readClaimServer(environment);
  }

  /** Time that tests drive. */
  @Singleton
  @Replaces(TimeSource.class)
  ManualTime time() {
    return ManualTime.start();
  }
}
