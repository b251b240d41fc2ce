package io.firstclaim.lock.memory;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RandomHistoryContract;
import io.firstclaim.lock.TimeSource;

class MemoryHistoryTest extends RandomHistoryContract {
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();

  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource time) {
    return new MemoryClaimStore(claims, settings, time);
  }

  @Override
  protected int histories() {
    return 1000;
  }
}
