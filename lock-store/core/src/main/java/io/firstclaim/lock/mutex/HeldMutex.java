package io.firstclaim.lock.mutex;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.Patience;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.lock.keeper.KeptLease;
import io.firstclaim.lock.keeper.LeaseKeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mutex in its holder's hands, from {@link Mutex#acquire} to {@link #close}. It is renewed at a
 * third of its lease by a {@link LeaseKeeper}, whatever the holder's own thread is doing; a renewal
 * that fails is tried again until the lease is over.
 *
 * <p>It can be lost all the same: to a pause of the whole process, or a store that does not answer.
 * Nothing can stop a holder that does not look, so ask {@link #ensureHeld} right before each effect
 * that cannot be undone, have {@link #whenLost} stop long work, and pass {@link #token} to whatever
 * can refuse a lower one.
 *
 * <p>Thread-safe; need not be closed by the thread that acquired it.
 */
public final class HeldMutex implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HeldMutex.class);
  private static final ThreadFactory RELEASERS =
      Thread.ofPlatform().daemon().name("firstclaim-mutex-release").factory();

  private final ClaimStore store;
  private final TimeSource time;
  private final KeptLease kept;
  private final Duration atLeast;
  private final Consumer<HeldMutex> gone;
  private final ThreadFactory releasers;
  private boolean closed; // guarded by this

  /**
   * A held mutex.
   *
   * @param atLeast for how long it is not given back
   * @param gone told once it is given back, or left to run out
   */
  HeldMutex(
      ClaimStore store,
      TimeSource time,
      KeptLease kept,
      Duration atLeast,
      Consumer<HeldMutex> gone) {
    this(store, time, kept, atLeast, gone, RELEASERS);
  }

  /** The same, given back by these threads where that takes long. */
  HeldMutex(
      ClaimStore store,
      TimeSource time,
      KeptLease kept,
      Duration atLeast,
      Consumer<HeldMutex> gone,
      ThreadFactory releasers) {
    this.store = store;
    this.time = time;
    this.kept = kept;
    this.atLeast = atLeast;
    this.gone = gone;
    this.releasers = releasers;
  }

  /**
   * The token of its first key, by the order of the keys. Rises with every holder; a sink that
   * remembers the highest it has seen refuses stale ones.
   */
  public long token() {
    return kept.token();
  }

  /** The token of each of its keys, by their IDs {@linkplain RecordId#asMutex as a mutex's}. */
  public Map<RecordId, Long> tokens() {
    Lease lease = kept.lease();
    return Stream.concat(Stream.of(lease), lease.resources().stream())
        .collect(Collectors.toUnmodifiableMap(Lease::id, Lease::token));
  }

  /** Whether the lease still runs, by the monotonic clock; asks no store. */
  public boolean isHeld() {
    return kept.isHeld();
  }

  /**
   * How long a holder that is told of a {@linkplain #whenLost loss} has to stop, at least, until
   * another may take the mutex over; zero or negative if one may have by now. An operator who frees
   * it does not wait for that.
   */
  public Duration untilTakeover() {
    return kept.lease().untilTakeover(time.now());
  }

  /**
   * Does nothing while {@link #isHeld}.
   *
   * @throws LeaseLostException otherwise
   */
  public void ensureHeld() {
    if (!isHeld()) {
      throw new LeaseLostException(
          "mutex %s with token %d is %s: stop here, somebody else may hold it"
              .formatted(kept.lease().id(), token(), kept.whyNotHeld()));
    }
  }

  /**
   * Runs this once when the mutex is lost, on another thread, or here and now if it is lost
   * already; never after it was closed, which waits for it if it is under way, unless it is closed
   * by a holder who is told of a loss. {@code Thread.currentThread()::interrupt} is what most
   * holders want.
   */
  public void whenLost(Runnable told) {
    kept.whenLost(told);
  }

  /**
   * Gives the mutex back, if it is still the caller's, and stops renewing it; to others it is free
   * at once, or once it has been held for as long as it is {@linkplain Mutex#atLeast to be at
   * least}. If a renewal is under way, another thread waits for it; if the store does not answer,
   * that thread asks again until the lease is over. Where the JVM has no thread for that, the lease
   * runs out.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    kept.letGo();
    Optional<SettleResult> answer = kept.settleUnlessBusy(this::release);
    if (answer.isPresent() && isGivenBack(answer.get())) {
      gone.accept(this);
    } else {
      giveBackLater(answer.isEmpty());
    }
  }

  /** Gives it back on a thread of its own; where none can be had, it is left to its lease. */
  private void giveBackLater(boolean withoutAPause) {
    try {
      releasers.newThread(() -> keepGivingBack(withoutAPause)).start();
    } catch (OutOfMemoryError e) {
      gone.accept(this);
      LOG.warn("Mutex {} is left to run out: {}", kept.lease().id(), OneLine.of(e));
    }
  }

  private SettleResult release(Lease lease) {
    Duration left = atLeast.minus(kept.kept());
    Instant due = left.isPositive() ? time.now().wall().plus(left) : ClaimStore.AT_ONCE;
    try {
      return store.release(lease, due, "given back");
    } catch (UnreadableClaimException e) {
      LOG.warn("Mutex {} cannot be given back: {}", lease.id(), e.getMessage());
      return new SettleResult.Lost(null);
    } catch (StoreRefusedException e) {
      // The lease runs out by itself, unless the store permits the release before.
      return new SettleResult.Unknown(String.valueOf(e.getMessage()));
    } catch (RuntimeException | Error e) { // such as of a client that is closed already
      return new SettleResult.Unknown(OneLine.of(e));
    }
  }

  private void keepGivingBack(boolean withoutAPause) {
    Patience patience = new Patience(time, kept.lease().remaining(time.now()));
    boolean given = withoutAPause && isGivenBack(kept.settle(this::release));
    try {
      while (!given && !patience.isOver()) {
        patience.pause();
        given = isGivenBack(kept.settle(this::release));
      }
    } catch (InterruptedException e) {
      LOG.debug("Mutex {} is left to run out", kept.lease().id());
    } finally {
      gone.accept(this);
    }
  }

  /** Tells its holder to stop, as if it were lost. */
  void stop() {
    kept.stop();
  }

  /** Leaves the lease to run out, and waits for nobody. */
  void abandon() {
    kept.abandon();
    gone.accept(this);
  }

  /** Whether this holder has it no more; false if the store did not answer. */
  private boolean isGivenBack(SettleResult answer) {
    return switch (answer) {
      case SettleResult.Settled unused -> true;
      case SettleResult.Lost(String by) -> {
        LOG.warn(
            "Mutex {} with token {} was lost, to {}",
            kept.lease().id(),
            token(),
            by == null ? "nobody" : by);
        yield true;
      }
      case SettleResult.Unknown(String why) -> {
        LOG.info("Mutex {} could not be given back, trying again: {}", kept.lease().id(), why);
        yield false;
      }
    };
  }
}
