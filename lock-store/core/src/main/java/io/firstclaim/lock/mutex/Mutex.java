package io.firstclaim.lock.mutex;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Patience;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.keeper.KeptLease;
import io.firstclaim.lock.keeper.LeaseKeeper;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
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
 * <p>A waiter asks the store again and again, about once a second in the long run: a store is asked
 * by a read, and written to only where it may be had; the order of waiters is not kept. A holder
 * that dies delays the others by what is left of its lease and the skew bound. A mutex is not
 * reentrant: a holder that acquires it again waits for itself.
 *
 * <p>A mutex may have several keys: then it is all of them or none, and each has a token of its
 * own. Nobody waits while holding some of them, so mutexes with keys in common do not block each
 * other for good, whatever the order of the keys. On DynamoDB they are acquired in one transaction;
 * where there is none, one after the other, and given back at the first that is taken.
 *
 * <p>A mutex has nothing to do with a record of the same ID, nor with a resource of that name; one
 * whose ID is {@linkplain RecordId#asResource a resource's} keeps out the records that touch it.
 *
 * <p>Its tokens rise for good, however long it is idle: a store forgets what nobody has touched for
 * {@link io.firstclaim.lock.ClaimSettings#retention()}, but the token after that is the time by the
 * store's clock, in milliseconds, which is more than any before it.
 *
 * <p>Thread-safe. Needs closing only by a process that ends and may leave mutexes held.
 */
public final class Mutex implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Mutex.class);

  /** How long an interrupted caller is kept, at most, to find out what it must give back. */
  private static final Duration TO_GIVE_BACK = Duration.ofSeconds(10);

  private final ClaimStore store;
  private final SortedSet<RecordId> ids;
  private final @Nullable String onBehalfOf;
  private final TimeSource time;
  private final LeaseKeeper keeper;
  private final @Nullable Duration atMost;
  private final Duration atLeast;

  private final HeldMutexes held;

  /** The mutex of this name in this store. */
  public Mutex(ClaimStore store, RecordId id, TimeSource time) {
    this(store, List.of(id), null, time);
  }

  /**
   * The mutex of all these names in this store.
   *
   * @param ids of its keys, at least one and at most {@value Claim#MAX_IDS}; duplicates count once
   * @param onBehalfOf what it is wanted for, as those are told in whose way it is; may be null
   * @throws IllegalArgumentException if there is no name, or there are too many
   */
  public Mutex(
      ClaimStore store, Collection<RecordId> ids, @Nullable String onBehalfOf, TimeSource time) {
    this(store, ids, onBehalfOf, time, new LeaseKeeper(store, time, true), new HeldMutexes());
  }

  /** The same, kept by this keeper, and among these while it is held. */
  Mutex(
      ClaimStore store,
      Collection<RecordId> ids,
      @Nullable String onBehalfOf,
      TimeSource time,
      LeaseKeeper keeper,
      HeldMutexes held) {
    this.store = store;
    this.ids = new TreeSet<>(ids);
    this.onBehalfOf = onBehalfOf;
    if (this.ids.isEmpty() || this.ids.size() > Claim.MAX_IDS) {
      throw new IllegalArgumentException(
          "a mutex has 1 to %d keys, this one %d".formatted(Claim.MAX_IDS, this.ids.size()));
    }
    this.time = time;
    this.keeper = keeper;
    this.atMost = null;
    this.atLeast = Duration.ZERO;
    this.held = held;
  }

  private Mutex(Mutex other, @Nullable Duration atMost, Duration atLeast) {
    this.store = other.store;
    this.ids = other.ids;
    this.onBehalfOf = other.onBehalfOf;
    this.time = other.time;
    this.keeper = other.keeper;
    this.atMost = atMost;
    this.atLeast = atLeast;
    this.held = other.held;
    if (atMost != null && (!atMost.isPositive() || atMost.compareTo(atLeast) < 0)) {
      throw new IllegalArgumentException(
          "a mutex cannot be held for at most %s and at least %s: give a longer atMost"
              .formatted(atMost, atLeast));
    }
    if (atLeast.isPositive() && ids.size() > 1) {
      throw new IllegalArgumentException(
          "a mutex of %d keys is free again when it is closed: atLeast %s is for one of a single key"
              .formatted(ids.size(), atLeast));
    }
  }

  /**
   * This mutex, held for no longer than this: then its holder is told {@linkplain
   * HeldMutex#whenLost as of a loss}, and if it holds it for a lease more, it is renewed no longer.
   * Without such a bound, a holder that hangs holds it as long as its process lives.
   *
   * @throws IllegalArgumentException if it is shorter than {@link #atLeast}
   */
  public Mutex atMost(Duration bound) {
    return new Mutex(this, bound, atLeast);
  }

  /**
   * This mutex, not free to others before it has been held for this long, however soon it is
   * closed: for a job that several machines start at the same time by clocks that differ, and that
   * may be over before the last of them has started it.
   *
   * @throws IllegalArgumentException if it is longer than {@link #atMost}, or the mutex has several
   *     keys
   */
  public Mutex atLeast(Duration bound) {
    return new Mutex(this, atMost, bound);
  }

  /**
   * Waits until it is the caller's.
   *
   * @param atMost how long; zero tries once
   * @return empty if others held it the whole time
   * @throws StoreUnavailableException if the store did not answer when the time was up. The mutex
   *     may then be held for one lease without anybody knowing.
   * @throws io.firstclaim.lock.StoreRefusedException if the store does not permit it, at once
   * @throws io.firstclaim.lock.UnreadableClaimException if what is stored for it is not a claim, at
   *     once
   * @throws InterruptedException if the thread is interrupted before it has it. If it may have been
   *     granted by then, it is given back first; a store that does not answer is asked again for
   *     what is left of the time, ten seconds at most
   */
  public Optional<HeldMutex> acquire(Duration atMost) throws InterruptedException {
    return acquireOrSay(atMost) instanceof Acquisition.Acquired(HeldMutex held)
        ? Optional.of(held)
        : Optional.empty();
  }

  /**
   * Like {@link #acquire}, and says who is in the way if others are, and on behalf of what.
   *
   * @throws StoreUnavailableException as {@link #acquire} does
   * @throws io.firstclaim.lock.StoreRefusedException as {@link #acquire} does
   * @throws InterruptedException as {@link #acquire} does
   */
  public Acquisition acquireOrSay(Duration atMost) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    Patience patience = new Patience(time, atMost);
    Claim claim = newClaim();
    while (true) {
      ClaimResult answer = ask(claim, patience);
      if (answer instanceof ClaimResult.Granted(Lease lease, var unused)) {
        Lease running = running(lease, patience);
        if (running != null) {
          return new Acquisition.Acquired(held(running));
        }
      }
      if (answer == null) {
        pauseUnanswered(claim, patience);
        continue;
      }
      List<ClaimResult.InTheWay> inTheWay = inTheWay(claim, answer);
      if (patience.isOver()) {
        return new Acquisition.NotAcquired(inTheWay);
      }
      patience.pause(
          inTheWay.stream()
              .map(ClaimResult.InTheWay::remaining)
              .max(Comparator.naturalOrder())
              .orElse(Duration.ZERO));
      claim = Claim.after(new ClaimResult.Blocked(inTheWay), claim, time.now());
    }
  }

  private HeldMutex held(Lease lease) {
    KeptLease kept = keeper.keep(lease);
    if (atMost != null) {
      kept.atMost(atMost);
    }
    var taken = new HeldMutex(store, time, kept, atLeast, held::remove);
    held.add(taken);
    return taken;
  }

  /**
   * Gives back what this mutex, and those made of it by {@link #atMost} and {@link #atLeast}, still
   * hold, for a process that ends: each holder is told as of a loss, and awaited for ten seconds;
   * what it has not closed by then is left to its lease, and who acquires it later is told at once.
   * Needed only for that.
   */
  @Override
  public void close() {
    held.giveBack(time);
  }

  private Claim newClaim() {
    return Claim.ofMutex(ids, onBehalfOf, time.now());
  }

  /** Pauses before the same claim is sent again; if interrupted, it is given back. */
  private void pauseUnanswered(Claim claim, Patience patience) throws InterruptedException {
    try {
      patience.pause();
    } catch (InterruptedException e) {
      giveBack(() -> isGivenBack(claim), patience);
      throw e;
    }
  }

  /** Asks the store; null if it does not answer and there is time to ask again. */
  private @Nullable ClaimResult ask(Claim claim, Patience patience) throws InterruptedException {
    try {
      return store.claim(claim);
    } catch (StoreUnavailableException e) {
      if (Thread.interrupted()) {
        giveBack(() -> isGivenBack(claim), patience);
        throw new InterruptedException();
      }
      if (patience.isOver()) {
        throw e;
      }
      return null;
    }
  }

  /**
   * A claim without an answer may have been granted, and nobody would hold it: asked again, the
   * store knows it. If it does not answer in time, the lease runs out.
   *
   * @throws InterruptedException if the thread is interrupted once more
   */
  private void giveBack(BooleanSupplier isGivenBack, Patience left) throws InterruptedException {
    Patience patience = left.shortened(TO_GIVE_BACK);
    while (!isGivenBack.getAsBoolean() && !patience.isOver()) {
      patience.pause();
    }
  }

  /** Whether this claim holds nothing any more; false if the store did not answer. */
  private boolean isGivenBack(Claim claim) {
    try {
      return !(store.claim(claim) instanceof ClaimResult.Granted(Lease lease, var unused))
          || isGivenBack(lease);
    } catch (StoreException e) {
      LOG.debug("Not yet known whether mutex {} must be given back", ids, e);
      return false;
    }
  }

  /** Whether this lease is given back; false if the store did not answer. */
  private boolean isGivenBack(Lease lease) {
    try {
      return !(store.release(lease, ClaimStore.AT_ONCE, "interrupted")
          instanceof SettleResult.Unknown);
    } catch (StoreException e) {
      LOG.debug("Not yet known whether mutex {} is given back", ids, e);
      return false;
    }
  }

  /**
   * The lease, renewed if the grant took so long to come that it is over; null if somebody else has
   * it by then. While the store does not say, it is asked again: a new claim would find the mutex
   * held, by this one.
   */
  private @Nullable Lease running(Lease granted, Patience patience) throws InterruptedException {
    Lease lease = granted;
    while (lease.isOver(time.now())) {
      switch (store.renew(lease)) {
        case SettleResult.Settled(Lease renewed) -> lease = renewed;
        case SettleResult.Lost unused -> {
          return null;
        }
        case SettleResult.Unknown(String why) -> {
          if (patience.isOver()) {
            throw new StoreUnavailableException(
                "mutex %s was granted too late, and is not known to be renewed: %s"
                    .formatted(ids, why));
          }
          Lease late = lease;
          try {
            patience.pause();
          } catch (InterruptedException e) {
            giveBack(() -> isGivenBack(late), patience);
            throw e;
          }
        }
      }
    }
    return lease;
  }

  /** Those of its keys that are known to be held; none after a grant that was over. */
  private List<ClaimResult.InTheWay> inTheWay(Claim claim, ClaimResult answer) {
    return switch (answer) {
      case ClaimResult.Granted unused -> List.of();
      case ClaimResult.Blocked blocked -> blocked.inTheWay();
      default -> List.of(ClaimResult.InTheWay.of(claim.id(), answer, time.now().wall()));
    };
  }
}
