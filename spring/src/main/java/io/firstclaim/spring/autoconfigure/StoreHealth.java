package io.firstclaim.spring.autoconfigure;

import io.firstclaim.listener.StoreAnswers;
import io.firstclaim.lock.ClaimStore;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Up while the claim store answers a read. Thread-safe. */
final class StoreHealth extends AbstractHealthIndicator {
  private final ClaimStore store;

  StoreHealth(ClaimStore store) {
    super("The claim store does not answer");
    this.store = store;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    StoreAnswers.require(store);
    builder.up();
  }
}
