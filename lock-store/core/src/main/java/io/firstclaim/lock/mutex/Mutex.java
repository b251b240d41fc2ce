package io.firstclaim.lock.mutex;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Patience;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.keeper.LeaseKeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock held by one process at a time among all that share a claim store: acquiring waits for it,
 * and its lease is renewed until it is closed.
 *
 * {@snippet :
 * var mutex = new Mutex(store, RecordId.of("billing-run"), TimeSource.system());
 * try (HeldMutex held = mutex.acquire(Duration.ofMinutes(1)).orElseThrow()) {
 *   chargeCustomers(held.token()); // the sink refuses lower tokens
 *   held.ensureHeld();
 *   sendInvoices();
 * }
 * }
 *
 * <p>A waiter asks the store again and again, about once a second in the long run; the order of
 * waiters is not kept. A holder that dies delays the others by what is left of its lease and the
 * skew bound. A mutex is not reentrant: a holder that acquires it again waits for itself.
 *
 * <p>Give mutexes a namespace of their own, apart from records. A store forgets what nobody has
 * touched for {@link io.firstclaim.lock.ClaimSettings#retention()}, last token included: where a
 * sink remembers tokens, let the retention be longer than the mutex is ever idle.
 *
 * <p>Thread-safe; needs no closing.
 */
public final class Mutex {
  /** Due at once by any clock: a store takes the moment of the release instead. */
  static final Instant AT_ONCE = Instant.EPOCH;

  private static final Logger LOG = LoggerFactory.getLogger(Mutex.class);
  private static final Duration SOME_TIME = Duration.ofDays(1);

  private final ClaimStore store;
  private final RecordId id;
  private final TimeSource time;
  private final LeaseKeeper keeper;

  /** The mutex of this name in this store. */
  public Mutex(ClaimStore store, RecordId id, TimeSource time) {
    this.store = store;
    this.id = id;
    this.time = time;
    this.keeper = new LeaseKeeper(store, time, true);
  }

  /**
   * Waits until it is the caller's.
   *
   * @param atMost how long; zero tries once
   * @return empty if others held it the whole time
   * @throws StoreUnavailableException if the store did not answer when the time was up. The mutex
   *     may then be held for one lease without anybody knowing.
   * @throws io.firstclaim.lock.StoreRefusedException if the store does not permit it, at once
   * @throws InterruptedException if the thread is interrupted before it has it. If it was granted
   *     by then, it is given back, if the store answers.
   * @throws IllegalStateException if this is a record's ID
   */
  public Optional<HeldMutex> acquire(Duration atMost) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    Patience patience = new Patience(time, atMost);
    Claim claim = newClaim();
    while (true) {
      ClaimResult answer = ask(claim, patience);
      if (answer instanceof ClaimResult.Granted(Lease lease, var unused)) {
        Lease running = running(lease);
        if (running != null) {
          return Optional.of(new HeldMutex(store, time, keeper.keep(running)));
        }
      }
      Duration due = due(answer);
      if (answer != null && patience.isOver()) {
        return Optional.empty();
      }
      patience.pause(due);
      if (answer != null) {
        claim =
            answer instanceof ClaimResult.Held held
                ? Claim.after(held, claim, time.now())
                : newClaim();
      }
    }
  }

  private Claim newClaim() {
    return Claim.of(id, Fingerprint.none(), time.now());
  }

  /** Asks the store; null if it does not answer and there is time to ask again. */
  private @Nullable ClaimResult ask(Claim claim, Patience patience) throws InterruptedException {
    try {
      return store.claim(claim);
    } catch (StoreUnavailableException e) {
      if (Thread.interrupted()) {
        giveBack(claim);
        throw new InterruptedException();
      }
      if (patience.isOver()) {
        throw e;
      }
      return null;
    }
  }

  /** An interrupted request may have been granted: asked again, the store knows it. */
  private void giveBack(Claim claim) {
    try {
      if (store.claim(claim) instanceof ClaimResult.Granted(Lease lease, var unused)) {
        SettleResult given = store.release(lease, AT_ONCE, "interrupted");
        LOG.debug("Mutex {} was given back: {}", id, given);
      }
    } catch (StoreException e) {
      // If it was granted, its lease runs out.
    }
  }

  /** The lease, renewed if the grant took so long to come that it is over; null if it is lost. */
  private @Nullable Lease running(Lease granted) {
    if (!granted.isOver(time.now())) {
      return granted;
    }
    return store.renew(granted) instanceof SettleResult.Settled(Lease renewed) ? renewed : null;
  }

  /** How soon it is worth asking again, at the latest. */
  private Duration due(@Nullable ClaimResult answer) {
    return switch (answer) {
      case null -> SOME_TIME;
      case ClaimResult.Granted unused -> Duration.ZERO;
      case ClaimResult.Held held -> held.remaining();
      case ClaimResult.Later(Instant retryAt, var unused) ->
          Duration.between(time.now().wall(), retryAt);
      case ClaimResult.Done unused -> throw idOfRecord(answer);
      case ClaimResult.Dead unused -> throw idOfRecord(answer);
      case ClaimResult.Mismatch unused -> throw idOfRecord(answer);
    };
  }

  private IllegalStateException idOfRecord(ClaimResult answer) {
    return new IllegalStateException(
        "%s is the ID of a record, not of a mutex (%s): give mutexes a namespace of their own"
            .formatted(id, answer.getClass().getSimpleName()));
  }
}
