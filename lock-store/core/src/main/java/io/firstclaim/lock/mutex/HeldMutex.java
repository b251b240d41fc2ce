package io.firstclaim.lock.mutex;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Patience;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mutex in its holder's hands, from {@link Mutex#acquire} to {@link #close}. It is renewed at a
 * third of its lease, however the holder's own thread is doing; a renewal that fails is tried again
 * until the lease is over.
 *
 * <p>It can be lost all the same: to a pause of the whole process, or a store that does not answer.
 * Nothing can stop a holder that does not look, so ask {@link #ensureHeld} right before each effect
 * that cannot be undone, have {@link #whenLost} stop long work, and pass {@link #token} to whatever
 * can refuse a lower one.
 *
 * <p>Thread-safe; need not be closed by the thread that acquired it. Costs a thread while it is
 * held.
 */
public final class HeldMutex implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HeldMutex.class);
  private static final int LOOKS_PER_LEASE = 6;

  private final ClaimStore store;
  private final TimeSource time;
  private final Thread keeper;
  private final List<Runnable> whenLost = new ArrayList<>();
  private volatile Lease lease;
  private volatile boolean renewing;
  private volatile boolean lost;
  private volatile boolean closed;

  private HeldMutex(ClaimStore store, TimeSource time, Lease lease) {
    this.store = store;
    this.time = time;
    this.lease = lease;
    this.keeper = daemon("firstclaim-mutex").unstarted(this::keep);
  }

  static HeldMutex keep(ClaimStore store, TimeSource time, Lease lease) {
    HeldMutex held = new HeldMutex(store, time, lease);
    held.keeper.start();
    return held;
  }

  /** Not virtual: the work under the mutex may occupy all carriers. */
  private static Thread.Builder daemon(String name) {
    return Thread.ofPlatform().daemon().name(name);
  }

  /** Rises with every holder; a sink that remembers the highest it has seen refuses stale ones. */
  public long token() {
    return lease.token();
  }

  /** Whether the lease still runs, by the monotonic clock; asks no store. */
  public boolean isHeld() {
    return !closed && !lost && !lease.isOver(time.now());
  }

  /**
   * Does nothing while {@link #isHeld}.
   *
   * @throws LeaseLostException otherwise
   */
  public void ensureHeld() {
    if (!isHeld()) {
      throw new LeaseLostException(
          "mutex %s is no longer held with token %d: stop here, somebody else may hold it"
              .formatted(lease.id(), token()));
    }
  }

  /**
   * Has this run once when the mutex is lost, on another thread, or here and now if it is lost
   * already; never after it was closed. Must not block; {@code Thread.currentThread()::interrupt}
   * is what most holders want.
   */
  public synchronized void whenLost(Runnable told) {
    if (closed) {
      return;
    }
    if (lost) {
      told.run();
    } else {
      whenLost.add(told);
    }
  }

  /**
   * Gives the mutex back, if it is still the caller's, and renews it no more. Where the store does
   * not answer, it goes on trying, on another thread, until the lease is over.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    keeper.interrupt();
    if (!giveBack()) {
      daemon("firstclaim-mutex-release").start(this::keepGivingBack);
    }
  }

  private void keep() {
    try {
      while (isHeld()) {
        Moment now = time.now();
        tend(now);
        Duration look = lease.length().dividedBy(LOOKS_PER_LEASE);
        Duration left = lease.remaining(now);
        time.sleep(left.compareTo(look) < 0 ? left : look);
      }
      lose("its lease ran out");
    } catch (InterruptedException e) {
      LOG.debug("Mutex {} is kept no more", lease.id());
    }
  }

  /** Starts a renewal if one is due. It has a thread of its own, for the store may be slow. */
  private void tend(Moment now) {
    if (renewing || now.since(lease.start()).compareTo(lease.length().dividedBy(3)) < 0) {
      return;
    }
    try {
      renewing = true;
      daemon("firstclaim-mutex-renewal").start(this::renew);
    } catch (RuntimeException | Error e) { // no thread to be had: the next look tries again
      renewing = false;
      LOG.error("Renewing mutex {} could not begin", lease.id(), e);
    }
  }

  /** It may cross the release: the store takes the two in either order. */
  private void renew() {
    try {
      switch (store.renew(lease)) {
        case SettleResult.Settled(Lease renewed) -> lease = renewed;
        case SettleResult.Lost(String by) ->
            lose(by == null ? "its lease is gone" : "it is held by " + by);
        case SettleResult.Unknown(String why) ->
            LOG.warn("Mutex {} could not be renewed, trying again: {}", lease.id(), why);
      }
    } catch (RuntimeException | Error e) {
      LOG.error("Renewing mutex {} failed in an unforeseen way", lease.id(), e);
    } finally {
      renewing = false;
    }
  }

  /** Under the monitor, so that nobody is told after {@link #close} has returned. */
  private synchronized void lose(String how) {
    if (closed || lost) {
      return;
    }
    lost = true;
    LOG.warn("Mutex {} with token {} is lost: {}", lease.id(), token(), how);
    for (Runnable told : whenLost) {
      try {
        told.run();
      } catch (RuntimeException | Error e) { // the others must be told all the same
        LOG.error("Telling a holder of mutex {} that it is lost failed", lease.id(), e);
      }
    }
  }

  /** False if the store did not answer. */
  private boolean giveBack() {
    return switch (store.release(lease, Mutex.AT_ONCE, "given back")) {
      case SettleResult.Settled unused -> true;
      case SettleResult.Lost(String by) -> {
        LOG.warn("Mutex {} with token {} was lost, to {}", lease.id(), token(), by);
        yield true;
      }
      case SettleResult.Unknown(String why) -> {
        LOG.info("Mutex {} could not be given back, trying again: {}", lease.id(), why);
        yield false;
      }
    };
  }

  private void keepGivingBack() {
    Patience patience = new Patience(time, lease.remaining(time.now()));
    try {
      do {
        patience.pause();
      } while (!giveBack() && !patience.isOver());
    } catch (InterruptedException e) {
      LOG.debug("Mutex {} is left to run out", lease.id());
    }
  }
}
