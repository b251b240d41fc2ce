package io.firstclaim.lock.store;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState.Dead;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.ClaimState.Free;
import io.firstclaim.lock.ClaimState.Held;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * How a sweeper may delete a claim that nobody needs any more: it first writes {@code claim} over
 * it, then deletes that while its lease lasts. If the sweeper dies under that lease, the next claim
 * is granted as a first attempt, as it would be after the deletion.
 *
 * @param lease the sweeper's
 * @param claim what is stored while it lasts
 */
public record Retirement(Lease lease, ClaimRecord claim) {
  /**
   * The retirement of a claim that ended, or was last held or due, longer ago than the retention;
   * empty if it must stay.
   *
   * @param age how long ago, at least, the record was written
   * @param sweeper who deletes
   */
  public static Optional<Retirement> of(
      ClaimRecord stored,
      RecordId id,
      Duration age,
      String sweeper,
      Moment now,
      ClaimSettings settings) {
    if (!isPast(stored, age, now.wall().minus(settings.retention()), settings)) {
      return Optional.empty();
    }
    Lease lease =
        new Lease(
            id,
            sweeper,
            stored.token() + 1,
            0,
            stored.fingerprint(),
            Nonce.random(),
            now,
            settings.lease());
    return Optional.of(new Retirement(lease, Protocol.stateOf(lease)));
  }

  private static boolean isPast(
      ClaimRecord stored, Duration age, Instant kept, ClaimSettings settings) {
    return switch (stored.state()) {
      case Done unused -> age.compareTo(settings.retention()) > 0;
      case Dead unused -> age.compareTo(settings.retention()) > 0;
      case Held held -> held.end().plus(settings.maxSkew()).isBefore(kept);
      case Free free -> age.compareTo(settings.retention()) > 0 && free.retryAt().isBefore(kept);
    };
  }
}
