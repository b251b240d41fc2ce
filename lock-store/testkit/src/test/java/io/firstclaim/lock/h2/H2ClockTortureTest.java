package io.firstclaim.lock.h2;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ClockTortureContract;
import io.firstclaim.lock.testkit.ManualTime;

class H2ClockTortureTest extends ClockTortureContract {
  @Override
  public ClaimStore store(ClaimSettings settings, TimeSource machine, ManualTime world) {
    return H2.store(settings, machine);
  }

  @Override
  public boolean judgesByMachine() {
    return true;
  }

  @Override
  protected int histories() {
    return 50;
  }
}
