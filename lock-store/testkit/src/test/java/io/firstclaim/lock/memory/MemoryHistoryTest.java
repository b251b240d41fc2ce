package io.firstclaim.lock.memory;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.RandomHistoryContract;

class MemoryHistoryTest extends RandomHistoryContract {
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();

  @Override
  public ClaimStore store(ClaimSettings settings, ManualTime machine) {
    return new MemoryClaimStore(claims, settings, machine);
  }

  @Override
  protected int histories() {
    return 100;
  }
}
