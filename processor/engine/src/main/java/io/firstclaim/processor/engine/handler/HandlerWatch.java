package io.firstclaim.processor.engine.handler;

import io.firstclaim.lock.keeper.KeptLease;
import io.firstclaim.lock.keeper.Worker;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Interrupts handlers: those whose lease is lost or whose time is up, and all of them when the
 * engine stops. One that ignores the interrupt is abandoned a lease after its time was up. Has no
 * thread of its own: the lease keeper calls it. Thread-safe.
 */
final class HandlerWatch {
  private static final Logger LOG = LoggerFactory.getLogger(HandlerWatch.class);

  private final Duration limit;
  private final Set<Watched> all = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;

  /** Why a handler was interrupted. */
  enum Interruption {
    /** Its lease is over or somebody else's. */
    LEASE_LOST,
    /** Its time is up. */
    TIMED_OUT,
    /** The engine stops. */
    STOPPED
  }

  /**
   * A watch over nobody yet.
   *
   * @param limit how long a handler may take
   */
  HandlerWatch(Duration limit) {
    this.limit = limit;
  }

  /** How many abandoned handlers have not come back. */
  int abandoned() {
    return (int) all.stream().filter(watched -> watched.abandoned).count();
  }

  /**
   * Watches the handler of one record from now until the result is closed.
   *
   * @param abandon run if the handler ignores its interrupt for a whole lease
   */
  Watched watch(KeptLease lease, Runnable abandon) {
    Watched watched = new Watched(lease, abandon);
    all.add(watched);
    if (stopping) {
      watched.interrupt(Interruption.STOPPED);
    }
    lease.whenLost(() -> watched.interrupt(Interruption.LEASE_LOST));
    lease.after(limit, () -> watched.interrupt(Interruption.TIMED_OUT));
    lease.after(limit.plus(lease.lease().length()), watched::abandon);
    return watched;
  }

  /** Interrupts every handler, including those of records yet to come: the engine stops. */
  void interruptAll() {
    stopping = true;
    all.forEach(watched -> watched.interrupt(Interruption.STOPPED));
  }

  /** The handler of one record. */
  final class Watched implements AutoCloseable {
    private final KeptLease lease;
    private final Runnable goOnWithout;
    private final Worker worker = new Worker();
    private final AtomicReference<@Nullable Interruption> why = new AtomicReference<>();
    private volatile boolean abandoned;

    private Watched(KeptLease lease, Runnable goOnWithout) {
      this.lease = lease;
      this.goOnWithout = goOnWithout;
    }

    /** Why the handler was interrupted, if it was. */
    @Nullable Interruption interruption() {
      return why.get();
    }

    /** The current thread begins to handle and may be interrupted from now on. */
    void beginWork() {
      worker.begin();
    }

    /**
     * The handler is done and can no longer be interrupted; an interruption that is still pending
     * is cleared, even the handler's own, as the thread has yet to record what became of it.
     *
     * @return false if it has been abandoned and must have no further effect
     */
    boolean endWork() {
      boolean mine = worker.end();
      boolean _ = Thread.interrupted();
      return mine;
    }

    /** The first reason counts. */
    private void interrupt(Interruption reason) {
      if (why.compareAndSet(null, reason)) {
        worker.interrupt();
      }
    }

    /** A handler that ignores its interrupt is left alone; the record goes on without it. */
    private void abandon() {
      if (worker.abandon()) {
        abandoned = true;
        LOG.error(
            "The handler of {} ignores being interrupted {} after its time was up: its thread is"
                + " abandoned and keeps its permit to be in flight. Have the handler end"
                + " when it is interrupted.",
            lease.lease().id(),
            lease.lease().length());
        lease.letGo();
        goOnWithout.run();
      }
    }

    /** Stops watching. */
    @Override
    public void close() {
      all.remove(this);
    }
  }
}
