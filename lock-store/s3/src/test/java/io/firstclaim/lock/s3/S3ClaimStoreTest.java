package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ClaimStoreContract;
import java.time.Duration;

class S3ClaimStoreTest extends ClaimStoreContract {
  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource machine) {
    return LocalS3.store(settings, machine, time);
  }

  @Override
  protected Duration tick() {
    return Duration.ofSeconds(1);
  }
}
