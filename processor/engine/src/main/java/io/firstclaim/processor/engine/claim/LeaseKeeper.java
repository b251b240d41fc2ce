package io.firstclaim.processor.engine.claim;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the leases of records in their handlers' hands: renews each at a third of its length,
 * however its handler's thread is doing, and interrupts the handler when the lease is lost or its
 * time is up. A renewal that fails is tried again soon. Thread-safe.
 */
public final class LeaseKeeper {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseKeeper.class);
  private static final int LOOKS_PER_LEASE = 24;

  /** More at once only queue up in the client or the store. */
  private static final int RENEWALS_AT_ONCE = 32;

  private final ClaimStore store;
  private final TimeSource time;
  private final boolean renew;
  private final Duration limit;
  private final Set<HeldLease> held = ConcurrentHashMap.newKeySet();
  private final Semaphore renewals = new Semaphore(RENEWALS_AT_ONCE, true);
  private volatile boolean stopping;

  /**
   * A keeper, which looks only when told.
   *
   * @param renew whether leases are renewed
   * @param limit how long a handler may take
   */
  public LeaseKeeper(ClaimStore store, TimeSource time, boolean renew, Duration limit) {
    this.store = store;
    this.time = time;
    this.renew = renew;
    this.limit = limit;
  }

  /** Has the keeper look regularly, on a thread of its own, until that is interrupted. */
  public Thread start(Duration lease) {
    Duration between = lease.dividedBy(LOOKS_PER_LEASE);
    return Thread.ofPlatform()
        .name("firstclaim-leases")
        .daemon()
        .start(
            () -> {
              try {
                while (true) {
                  Thread.sleep(between);
                  look();
                }
              } catch (InterruptedException e) {
                LOG.debug("No lease is kept any more");
              }
            });
  }

  /**
   * Takes a lease into keeping.
   *
   * @param abandon run if the handler heeds no interrupt for a whole lease
   */
  public HeldLease keep(Lease lease, Runnable abandon) {
    HeldLease kept = new HeldLease(store, time, lease, limit, renewals, abandon);
    held.add(kept);
    if (stopping) {
      kept.interrupt(HeldLease.Interruption.STOPPED);
    }
    return kept;
  }

  /** The lease needs no keeping any more. */
  public void drop(HeldLease lease) {
    held.remove(lease);
  }

  /** Looks after every lease once. */
  public void look() {
    Moment now = time.now();
    for (HeldLease lease : held) {
      try {
        lease.tend(now, renew);
      } catch (RuntimeException | Error e) { // the others must be looked after all the same
        LOG.error("Looking after the lease on {} failed", lease.lease().id(), e);
      }
    }
  }

  /** Interrupts every handler, of leases yet to come too: the service stops. */
  public void interruptAll() {
    stopping = true;
    held.forEach(lease -> lease.interrupt(HeldLease.Interruption.STOPPED));
  }
}
