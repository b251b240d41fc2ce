package io.firstclaim.lock;

import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Claims on record IDs, kept by conditional writes in a store that several processes share. At most
 * one claimant is granted each token of an ID, tokens only rise, and as long as its claim is kept
 * ({@link ClaimSettings#retention()}), at most one of all the holders an ID ever had completes it.
 *
 * <p>One attempt, without waiting:
 *
 * {@snippet :
 * var time = TimeSource.system();
 * var settings = ClaimSettings.of("orders", "host-17");
 * var client = DynamoDbTable.configure(DynamoDbClient.builder(), settings).build();
 * var store = DynamoDbClaimStore.open(client, "firstclaim", settings, time);
 * switch (store.claim(Claim.of(RecordId.of("order-4711"), Fingerprint.none(), time.now()))) {
 *   case ClaimResult.Granted(Lease lease, var unused) -> {
 *     ship(lease.token()); // the sink refuses lower tokens
 *     store.complete(lease, "shipped");
 *   }
 *   case ClaimResult other -> System.out.println("not now: " + other);
 * }
 * }
 *
 * <p>For a lock to wait for, keep and give back, there is {@link io.firstclaim.lock.mutex.Mutex}.
 *
 * <p>Thread-safe. Every method may block for the store's time limit ({@link
 * ClaimSettings#storeTimeout()}); where writes of several callers share a request, for three times
 * as long: in line and under way twice as long, and then once more by a request of its own. One
 * that meets a surprise reads and decides again, so it may take several such requests. Expected
 * outcomes are values. A fault that passes is a {@link StoreUnavailableException}, or for a step
 * under a lease {@link SettleResult.Unknown}. One that no retry can mend is a {@link
 * StoreRefusedException} from every method: the store is missing or does not permit the request,
 * which was then not applied. An earlier one whose answer is unknown may have been. What somebody
 * else wrote in a claim's place is an {@link UnreadableClaimException} from all that ask for that
 * ID; a lease on it is lost.
 */
public interface ClaimStore {
  /**
   * When a {@linkplain #release released} record is due that is to be free at once, by any clock.
   */
  Instant AT_ONCE = Instant.EPOCH;

  /** How many requests of a client are under way at once; more would only queue up in it. */
  int REQUESTS_AT_ONCE = 256;

  /**
   * Tries to own a record, and what it touches.
   *
   * @throws UnreadableClaimException if what is stored for this ID, or for a resource, is not a
   *     claim. As after a {@link StoreRefusedException}, send no claim of several IDs again: those
   *     that were granted are given back, which may take effect only later
   * @throws StoreUnavailableException if the store did not answer; send the same claim again
   */
  ClaimResult claim(Claim claim);

  /** Extends a lease by its whole length from now. */
  SettleResult renew(Lease lease);

  /**
   * Records that the work is done, for good.
   *
   * @param result kept with the record and returned to later claimants
   * @throws IllegalArgumentException if the result is too large for the store, which the message
   *     says; nothing was recorded, and the lease stands
   */
  SettleResult complete(Lease lease, @Nullable String result);

  /**
   * Records that the work is done, for good, and makes the last of it in the same transaction: the
   * effects are written if and only if the completion is, and the lease still stands.
   *
   * @param result kept with the record and returned to later claimants
   * @param effects of the work, of the kind that this store has
   * @throws EffectsRefusedException if a condition of theirs failed, or if they are too many or too
   *     large, or must not be written where they go; nothing was recorded, and the lease stands
   * @throws IllegalArgumentException if the result is too large for the store, or if it has no
   *     effects of this kind, which the message says; nothing was recorded, and the lease stands
   */
  default SettleResult complete(Lease lease, @Nullable String result, Effects effects) {
    throw new IllegalArgumentException(
        "%s cannot write %s with a completion"
            .formatted(getClass().getSimpleName(), effects.getClass().getSimpleName()));
  }

  /**
   * How many writes it makes the most of at once; more would only queue up. It may change, as where
   * writes share requests, and then do not. A store of few connections says fewer. Answers at once,
   * and never throws.
   */
  default int writesAtOnce() {
    return REQUESTS_AT_ONCE;
  }

  /** Whether it writes {@linkplain #complete(Lease, String, Effects) effects} at all. */
  default boolean writesEffects() {
    return false;
  }

  /**
   * Gives the record back for another attempt, by anybody.
   *
   * @param lease its {@linkplain Lease#ofAttempt attempt} is stored as the number of attempts made
   * @param retryAt when the next attempt is due, by this machine's clock; or {@link #AT_ONCE}
   * @param cause why this one ended
   */
  SettleResult release(Lease lease, Instant retryAt, String cause);

  /**
   * Records that the work is given up, for good. Write the dead letter first.
   *
   * @param cause why
   */
  SettleResult bury(Lease lease, String cause);

  /**
   * What the store has for an ID, by a strongly consistent read.
   *
   * @throws UnreadableClaimException if that is not a claim
   * @throws StoreUnavailableException if the store did not answer
   */
  Optional<ClaimRecord> find(RecordId id);

  /**
   * Names the table, bucket or memory that the claims are kept in, for as long as that exists: 32
   * hex digits, made with it. Two stores with one identity see the same claims, as far as they have
   * one namespace; of two with different ones, neither can tell what the other holds. A copy, such
   * as a table restored from a backup, has another than what it is a copy of.
   *
   * @throws StoreRefusedException if there is none yet and none may be made
   * @throws StoreUnavailableException if the store did not answer
   */
  String identity();
}
