package io.firstclaim.lock.store;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.Sighting;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** How a store claims several IDs at once: all or none. */
sealed interface Several permits InOneTransaction, OneByOne {
  /** Claims a record and its resources. */
  ClaimResult claim(Claim claim);

  /** Makes this step with the record; its resources are renewed with it, or free after it. */
  SettleResult settle(String op, Lease lease, Function<StoreMoment, Command.Settle> step);

  /** Completes a record, and makes these effects with that. */
  SettleResult complete(Lease lease, @Nullable String result, Effects effects);

  /**
   * What is in the way of a resource's claim.
   *
   * @param now by which the answer's times are told to this machine
   */
  static ClaimResult.InTheWay inTheWay(RecordId id, ClaimResult answer, Instant now) {
    return switch (answer) {
      case ClaimResult.Held(
              String by,
              var unused,
              Duration remaining,
              Sighting sighting,
              String onBehalfOf) ->
          new ClaimResult.InTheWay(id, by, onBehalfOf, remaining, sighting);
      case ClaimResult.Later(Instant retryAt, var unused) ->
          new ClaimResult.InTheWay(id, null, null, Duration.between(now, retryAt), null);
      case ClaimResult.Granted unused -> throw recordsOwn(id, answer);
      case ClaimResult.Blocked unused -> throw recordsOwn(id, answer);
      case ClaimResult.Done unused -> throw recordsOwn(id, answer);
      case ClaimResult.Dead unused -> throw recordsOwn(id, answer);
      case ClaimResult.Mismatch unused -> throw recordsOwn(id, answer);
    };
  }

  private static IllegalStateException recordsOwn(RecordId id, ClaimResult answer) {
    return new IllegalStateException(
        "%s is the ID of a record, not of a mutex or a resource (%s): give mutexes a namespace of"
                .formatted(id, answer.getClass().getSimpleName())
            + " their own");
  }
}
