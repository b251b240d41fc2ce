package io.firstclaim.lock.memory;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ClockTortureContract;
import io.firstclaim.lock.testkit.ManualTime;

class MemoryClockTortureTest extends ClockTortureContract {
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();

  @Override
  public ClaimStore store(ClaimSettings settings, TimeSource machine, ManualTime world) {
    return new MemoryClaimStore(claims, settings, machine);
  }

  @Override
  public boolean judgesByMachine() {
    return true;
  }

  @Override
  protected int histories() {
    return 500;
  }
}
