package io.firstclaim.lock;

import io.firstclaim.lock.state.ClaimRecord;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Claims on record IDs, kept by conditional writes in a store that several processes share. At most
 * one claimant is granted each token of an ID, tokens only rise, and of all holders that an ID ever
 * had at most one completes it.
 *
 * <p>A distributed lock with lease, renewal and fencing token is three calls:
 *
 * {@snippet :
 * try (var client = DynamoDbClient.create()) {
 *   var time = TimeSource.system();
 *   var settings = ClaimSettings.of("nightly-jobs", "host-17");
 *   var store = DynamoDbClaimStore.open(client, "firstclaim", settings, time);
 *   var claim = Claim.of(RecordId.of("billing-run"), Fingerprint.none(), time.now());
 *   switch (store.claim(claim)) {
 *     case ClaimResult.Granted(Lease lease, _) -> {
 *       chargeCustomers(lease.token()); // the sink refuses lower tokens
 *       if (store.renew(lease) instanceof SettleResult.Settled(Lease renewed)) {
 *         sendInvoices(renewed.token());
 *         store.release(renewed, time.now().wall(), "free for the next run");
 *       }
 *     }
 *     case ClaimResult other -> System.out.println("not now: " + other);
 *   }
 * }
 * }
 *
 * <p>Thread-safe. Every method may block for the store's time limit. Expected outcomes are values;
 * {@link StoreUnavailableException} is thrown where the store could not be asked.
 */
public interface ClaimStore {
  /**
   * Tries to own a record.
   *
   * @throws StoreUnavailableException if the store did not answer; send the same claim again
   */
  ClaimResult claim(Claim claim);

  /** Extends a lease by its whole length from now. */
  SettleResult renew(Lease lease);

  /**
   * Records that the work is done, for good.
   *
   * @param result kept with the record and answered to later claimants
   */
  SettleResult complete(Lease lease, @Nullable String result);

  /**
   * Gives the record back for another attempt, by anybody.
   *
   * @param retryAt when that attempt is due
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
   * What the store has of an ID, read strongly consistent.
   *
   * @throws StoreUnavailableException if the store did not answer
   */
  Optional<ClaimRecord> find(RecordId id);
}
