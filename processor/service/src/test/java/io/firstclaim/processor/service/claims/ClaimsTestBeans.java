package io.firstclaim.processor.service.claims;

import io.firstclaim.lock.Moment;
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
import java.time.Duration;

/** What the tests of a server of claims alone have in place of the service's own beans. */
@Factory
@Requires(condition = TakesRecords.Not.class)
final class ClaimsTestBeans {
  /** The setting by which a server has {@link SwitchedTime}. */
  static final String SWITCHED = "tests.switched-time";

  /** The settings, which the service reads when it starts. */
  @Singleton
  ClaimServerSettings settings(Environment environment) {
    return SettingsReader.readClaimServer(environment);
  }

  /** Time that tests drive. */
  @Singleton
  @Replaces(TimeSource.class)
  @Requires(missingProperty = SWITCHED)
  ManualTime time() {
    return ManualTime.start();
  }

  /** Time of which each test has its own, though the server is one. */
  @Singleton
  @Replaces(TimeSource.class)
  @Requires(property = SWITCHED)
  SwitchedTime switched() {
    return new SwitchedTime();
  }

  /** Another's time, to be told whose. Thread-safe. */
  static final class SwitchedTime implements TimeSource {
    private volatile TimeSource current = ManualTime.start();

    void switchTo(TimeSource time) {
      current = time;
    }

    @Override
    public Moment now() {
      return current.now();
    }

    @Override
    public void sleep(Duration duration) throws InterruptedException {
      current.sleep(duration);
    }
  }
}
