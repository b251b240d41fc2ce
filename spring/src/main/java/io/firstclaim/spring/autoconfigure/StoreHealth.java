package io.firstclaim.spring.autoconfigure;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Up while the claim store answers a read. Thread-safe. */
final class StoreHealth extends AbstractHealthIndicator {
  /** Nobody claims it, so nothing is there: what matters is that the store says so. */
  private static final RecordId NOBODYS = RecordId.of("firstclaim-health").asMutex();

  private final ClaimStore store;

  StoreHealth(ClaimStore store) {
    super("The claim store does not answer");
    this.store = store;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    var unused = store.find(NOBODYS);
    builder.up();
  }
}
