package io.firstclaim.lock.s3;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ClockTortureContract;
import io.firstclaim.lock.testkit.ManualTime;

class S3ClockTortureTest extends ClockTortureContract {
  @Override
  public ClaimStore store(ClaimSettings settings, TimeSource machine, ManualTime world) {
    return LocalS3.store(settings, machine, world);
  }

  @Override
  public boolean judgesByMachine() {
    return false;
  }

  @Override
  protected int histories() {
    return 15;
  }
}
