package io.firstclaim.lock.memory;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.deduplicator.DeduplicatorContract;

class MemoryDeduplicatorTest extends DeduplicatorContract {
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();

  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource time) {
    return new MemoryClaimStore(claims, settings, time);
  }
}
