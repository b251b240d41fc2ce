package io.firstclaim.lock.testkit;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.SettleResult;
import java.time.Instant;

/** A step under a lease. */
public enum Step {
  RENEW {
    @Override
    public SettleResult take(ClaimStore store, Lease lease) {
      return store.renew(lease);
    }
  },
  COMPLETE {
    @Override
    public SettleResult take(ClaimStore store, Lease lease) {
      return store.complete(lease, "a result");
    }
  },
  RELEASE {
    @Override
    public SettleResult take(ClaimStore store, Lease lease) {
      return store.release(lease, RETRY_AT, "a cause");
    }
  },
  BURY {
    @Override
    public SettleResult take(ClaimStore store, Lease lease) {
      return store.bury(lease, "a cause");
    }
  };

  /** When a {@link #RELEASE} is due: long after everything else. */
  static final Instant RETRY_AT = Instant.parse("2101-01-01T00:00:00Z");

  public abstract SettleResult take(ClaimStore store, Lease lease);
}
