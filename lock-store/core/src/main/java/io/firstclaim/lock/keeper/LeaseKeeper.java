package io.firstclaim.lock.keeper;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the leases of one store alive while their holders work: renews each at a third of its
 * length, whatever its holder's thread is doing, and tells the holder once if it is lost all the
 * same. A renewal that fails is tried again a sixth of the lease later, until the lease is over.
 *
 * <p>It has platform threads of its own, as the work may occupy every carrier of virtual ones: one
 * that looks, and up to a bound as many as renewals and holders who lose theirs need at once. They
 * start with the first lease and end soon after the last, so a keeper needs no closing, and they do
 * not keep a process from ending. No error of the store, of a holder or of the JVM ends them while
 * a lease is kept: what failed is tried again at the next look.
 *
 * <p>Thread-safe.
 */
public final class LeaseKeeper {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseKeeper.class);

  /**
   * So many renewals of a keeper are under way at once, each on a thread of its own: what is
   * promised of leases must not count on more.
   */
  public static final int RENEWALS_AT_ONCE = 128;

  /** So many holders are told at once that they have lost theirs. */
  private static final int TOLD_AT_ONCE = 128;

  private static final long IDLE_MILLIS = 10;

  /** How soon to look again after a look that failed. */
  private static final Duration SOON = Duration.ofMillis(20);

  final ClaimStore store;
  final TimeSource time;
  final boolean renews;
  final Executor renewals;

  /**
   * Threads of their own tell of losses, as a holder may be slow to hear that its lease is lost.
   */
  final Executor losses = pool(TOLD_AT_ONCE, daemons("firstclaim-lost"));

  final Passage passage;

  /** Limit how often a failed renewal and a lost lease are logged as warnings. */
  final OncePerMinute failed;

  final OncePerMinute lost;

  private final Set<KeptLease> kept = ConcurrentHashMap.newKeySet();
  private final ThreadFactory lookers;

  /** Guarded by this. */
  private @Nullable Thread looker;

  /**
   * A keeper.
   *
   * @param renews whether it renews; if not, it only tells of losses
   */
  public LeaseKeeper(ClaimStore store, TimeSource time, boolean renews) {
    this(store, time, renews, Supplier::get);
  }

  /**
   * A keeper.
   *
   * @param renews whether it renews; if not, it only tells of losses
   * @param passage the way that renewals take to the store
   */
  public LeaseKeeper(ClaimStore store, TimeSource time, boolean renews, Passage passage) {
    this(store, time, renews, passage, daemons("firstclaim-leases"), daemons("firstclaim-renewal"));
  }

  LeaseKeeper(
      ClaimStore store,
      TimeSource time,
      boolean renews,
      Passage passage,
      ThreadFactory lookers,
      ThreadFactory renewers) {
    this.store = store;
    this.time = time;
    this.renews = renews;
    this.passage = passage;
    this.failed = new OncePerMinute(time);
    this.lost = new OncePerMinute(time);
    this.lookers = lookers;
    this.renewals = pool(RENEWALS_AT_ONCE, renewers);
  }

  private static Executor pool(int most, ThreadFactory threads) {
    var pool =
        new ThreadPoolExecutor(
            most, most, IDLE_MILLIS, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), threads);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  private static ThreadFactory daemons(String name) {
    return Thread.ofPlatform().daemon().name(name).factory();
  }

  /**
   * Takes a lease into keeping, until it is settled or {@linkplain KeptLease#letGo() let go}.
   *
   * @throws OutOfMemoryError if no thread can be had to keep it
   */
  public KeptLease keep(Lease lease) {
    KeptLease taken = new KeptLease(this, lease, time.now());
    kept.add(taken);
    boolean looked = false;
    try {
      ensureLooker();
      looked = true;
    } finally {
      if (!looked) {
        kept.remove(taken);
      }
    }
    return taken;
  }

  private synchronized void ensureLooker() {
    if (looker == null) {
      Thread thread = lookers.newThread(this::keepLooking);
      thread.start();
      looker = thread;
    }
  }

  private void keepLooking() {
    while (isNeeded()) {
      try {
        time.sleep(look());
      } catch (InterruptedException | RuntimeException | Error e) {
        report("Looking after leases failed, trying again", e);
        LockSupport.parkNanos(
            SOON.toNanos()); // not by the TimeSource, whose sleep may be what failed
      }
    }
  }

  private synchronized boolean isNeeded() {
    if (kept.isEmpty()) {
      looker = null;
      return false;
    }
    return true;
  }

  /** Looks after every lease once; returns how soon to look again. */
  Duration look() {
    Moment now = time.now();
    @Nullable Duration next = null;
    for (KeptLease lease : kept) {
      try {
        Duration look = lease.tend(now);
        next = next == null || look.compareTo(next) < 0 ? look : next;
      } catch (RuntimeException | Error e) { // the others must still be looked after
        report("Looking after a lease failed", e);
        next = SOON;
      }
    }
    return next == null ? Duration.ZERO : next;
  }

  void drop(KeptLease lease) {
    kept.remove(lease);
  }

  /** Logs it, if there is memory left for that. */
  static void report(String what, Throwable fault) {
    try {
      LOG.error(what, fault);
    } catch (RuntimeException | Error e) {
      // Leases must be kept even where nothing can be logged.
    }
  }
}
