package io.firstclaim.micronaut.config;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.micronaut.config.FirstclaimSettings.BackendName;
import jakarta.inject.Singleton;

/** Claims in this process alone. */
@Singleton
final class MemoryBackend implements Backend {
  private final ClaimSettings claims;

  MemoryBackend(ClaimSettings claims) {
    this.claims = claims;
  }

  @Override
  public BackendName name() {
    return BackendName.MEMORY;
  }

  @Override
  public ClaimStore open(TimeSource time) {
    return new MemoryClaimStore(claims, time);
  }
}
