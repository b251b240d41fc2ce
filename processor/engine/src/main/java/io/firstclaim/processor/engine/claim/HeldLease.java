package io.firstclaim.processor.engine.claim;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lease while somebody works under it: renewed by the {@link LeaseKeeper}, settled by the worker,
 * one step at a time. Thread-safe.
 */
public final class HeldLease {
  /** Why a worker was interrupted. */
  public enum Interruption {
    /** Its lease is over or somebody else's. */
    LEASE_LOST,
    /** Its time is up. */
    TIMED_OUT,
    /** The service stops. */
    STOPPED
  }

  private static final Logger LOG = LoggerFactory.getLogger(HeldLease.class);

  private final ClaimStore store;
  private final TimeSource time;
  private final Moment begin;
  private final Duration limit;
  private final Semaphore renewals;
  private final Runnable abandon;

  /** Held across every step in the store, so that two never cross. */
  private final ReentrantLock step = new ReentrantLock();

  private volatile Lease lease;
  private volatile Moment lastTry;
  private volatile boolean lost;
  private volatile boolean closed;

  private @Nullable Thread worker;
  private boolean abandoned;
  private volatile @Nullable Interruption interruption;

  HeldLease(
      ClaimStore store,
      TimeSource time,
      Lease lease,
      Duration limit,
      Semaphore renewals,
      Runnable abandon) {
    this.store = store;
    this.time = time;
    this.lease = lease;
    this.begin = time.now();
    this.limit = limit;
    this.renewals = renewals;
    this.abandon = abandon;
    this.lastTry = lease.start();
  }

  /** The lease as it stands. */
  public Lease lease() {
    return lease;
  }

  /** Whether the lease still runs, by the monotonic clock; asks no store. */
  public boolean isHeld() {
    return !lost && !lease.isOver(time.now());
  }

  /** Why the worker was interrupted, if it was. */
  public @Nullable Interruption interruption() {
    return interruption;
  }

  /** The current thread begins to work and may be interrupted from now on. */
  public synchronized void beginWork() {
    worker = Thread.currentThread();
    if (interruption != null) {
      worker.interrupt();
    }
  }

  /**
   * The worker is through and cannot be interrupted any more; an interruption that is still pending
   * is cleared.
   *
   * @return false if it was abandoned in the meantime and must have no further effect
   */
  public synchronized boolean endWork() {
    worker = null;
    boolean _ = Thread.interrupted();
    return !abandoned;
  }

  /** Interrupts the worker. The first reason counts. */
  public synchronized void interrupt(Interruption why) {
    if (interruption != null) {
      return;
    }
    interruption = why;
    if (worker != null) {
      worker.interrupt();
    }
  }

  /**
   * Does a last step, such as completing, with the lease as it stands after any renewal under way.
   * May be repeated while the answer is unknown.
   */
  public SettleResult settle(Function<Lease, SettleResult> last) {
    step.lock();
    try {
      SettleResult result = last.apply(lease);
      switch (result) {
        case SettleResult.Settled _, SettleResult.Lost _ -> closed = true;
        case SettleResult.Unknown _ -> {}
      }
      return result;
    } finally {
      step.unlock();
    }
  }

  /**
   * Has the store count so many attempts, instead of this one's number.
   *
   * @return false if it is not known to do so
   */
  public boolean count(int attempts) {
    step.lock();
    try {
      return renewed(lease.ofAttempt(attempts));
    } finally {
      step.unlock();
    }
  }

  /** What the keeper does for it now and then. */
  void tend(Moment now, boolean renew) {
    Lease current = lease;
    boolean timeUp = now.since(begin).compareTo(limit) >= 0;
    if (lost || current.isOver(now)) {
      interrupt(Interruption.LEASE_LOST);
    } else if (timeUp) {
      interrupt(Interruption.TIMED_OUT);
    }
    if (now.since(begin).compareTo(limit.plus(current.length())) >= 0) {
      abandonWorker();
    } else if (renew && isDue(current, now)) {
      lastTry = now;
      Thread.ofVirtual().name("firstclaim-renew").start(this::renewInTurn);
    }
  }

  /** A third of the lease after its start, and a sixth after a renewal that failed. */
  private boolean isDue(Lease current, Moment now) {
    Duration third = current.length().dividedBy(3);
    return now.since(current.start()).compareTo(third) >= 0
        && now.since(lastTry).compareTo(third.dividedBy(2)) >= 0
        && !step.isLocked();
  }

  private void renewInTurn() {
    renewals.acquireUninterruptibly();
    try {
      renew();
    } finally {
      renewals.release();
    }
  }

  private void renew() {
    if (!step.tryLock()) {
      return;
    }
    try {
      if (closed || lost) {
        return;
      }
      boolean _ = renewed(lease);
    } catch (RuntimeException | Error e) {
      LOG.error("Renewing the lease on {} failed in an unforeseen way", lease.id(), e);
    } finally {
      step.unlock();
    }
  }

  private boolean renewed(Lease as) {
    return switch (store.renew(as)) {
      case SettleResult.Settled(Lease renewed) -> {
        lease = renewed;
        yield true;
      }
      case SettleResult.Lost(String by) -> {
        lost = true;
        LOG.warn("Lease on {} with token {} is lost to {}", lease.id(), lease.token(), by);
        interrupt(Interruption.LEASE_LOST);
        yield false;
      }
      case SettleResult.Unknown(String why) -> {
        LOG.warn("Lease on {} could not be renewed, trying again: {}", lease.id(), why);
        yield false;
      }
    };
  }

  /** A worker that heeds no interrupt is left alone; the record goes on without it. */
  private void abandonWorker() {
    synchronized (this) {
      if (worker == null || abandoned) {
        return;
      }
      abandoned = true;
    }
    LOG.error(
        "The handler of {} ignores being interrupted {} after its time was up: its thread is"
            + " abandoned and keeps its place among the records in flight. Have the handler end"
            + " when it is interrupted.",
        lease.id(),
        lease.length());
    closed = true;
    abandon.run();
  }
}
