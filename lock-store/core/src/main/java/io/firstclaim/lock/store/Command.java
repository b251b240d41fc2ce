package io.firstclaim.lock.store;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RedriveId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What a caller wants of the store. */
sealed interface Command {
  /**
   * To own the record.
   *
   * @param renews whether a grant of this very claim that is found is renewed, so that no earlier
   *     write under it takes any more
   */
  record Acquire(Claim claim, boolean renews) implements Command {
    /** To own the record, by this grant if it was granted before. */
    Acquire(Claim claim) {
      this(claim, false);
    }
  }

  /** A step under a lease. */
  sealed interface Settle extends Command {
    /** The caller's lease. */
    Lease lease();
  }

  /** To keep it for the length of another lease. */
  record Renew(Lease lease) implements Settle {}

  /** To end it as done. */
  record Complete(Lease lease, @Nullable String result) implements Settle {}

  /** To give it back. */
  record Release(Lease lease, Instant retryAt, String cause) implements Settle {}

  /** To end it as dead. */
  record Bury(Lease lease, String cause) implements Settle {}

  /**
   * To take back what another holds.
   *
   * @param nonce of the write
   */
  record TakeBack(String reason, Nonce nonce) implements Command {}

  /**
   * To free what is dead.
   *
   * @param reason for people; may be null
   * @param nonce of the write
   */
  record Redrive(Fingerprint payload, RedriveId by, @Nullable String reason, Nonce nonce)
      implements Command {}

  /**
   * To have what a redrive freed dead again.
   *
   * @param token under which it was freed
   * @param attempts that had been made when it died
   * @param end that it had
   * @param nonce of the write
   */
  record UndoRedrive(RedriveId by, long token, int attempts, ClaimState.Dead end, Nonce nonce)
      implements Command {}
}
