package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.RandomHistoryContract;
import java.time.Duration;

class S3HistoryTest extends RandomHistoryContract {
  @Override
  public ClaimStore store(ClaimSettings settings, ManualTime machine) {
    return LocalS3.store(settings, machine, machine);
  }

  @Override
  public Duration tick() {
    return Duration.ofSeconds(1);
  }

  @Override
  protected int histories() {
    return 5;
  }
}
