package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.deduplicator.DeduplicatorContract;
import java.time.Duration;

class S3DeduplicatorTest extends DeduplicatorContract {
  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource machine) {
    return LocalS3.store(settings, machine, time);
  }

  /** The store's dates are cut to the second, and so is what is left of a lease. */
  @Override
  protected Duration tick() {
    return Duration.ofSeconds(2);
  }
}
