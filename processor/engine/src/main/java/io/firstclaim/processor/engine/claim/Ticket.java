package io.firstclaim.processor.engine.claim;

import io.firstclaim.lock.Fingerprint;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The right to be the only one in this instance that works on an ID, and the place where its owner
 * waits for something. Made and awaited by one thread, signalled by any.
 */
public final class Ticket {
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

  private final ClaimId id;
  private final Fingerprint fingerprint;
  private final Object owner;
  private final Thread thread = Thread.currentThread();
  private final CountDownLatch left = new CountDownLatch(1);
  private volatile @Nullable Signal signal;
  private volatile boolean settled;

  /**
   * A ticket of the current thread.
   *
   * @param owner what {@link Tickets#stop(Object)} stops it by
   */
  public Ticket(ClaimId id, Fingerprint fingerprint, Object owner) {
    this.id = id;
    this.fingerprint = fingerprint;
    this.owner = owner;
  }

  ClaimId id() {
    return id;
  }

  boolean isOwnedBy(Object who) {
    return owner.equals(who);
  }

  /** Whether it is for this payload. */
  public boolean isFor(Fingerprint payload) {
    return fingerprint.equals(payload);
  }

  /**
   * Waits for a signal, for at most an hour, as the time asked for may come from other machines'
   * clocks.
   *
   * @return the signal, or null if none came within the time
   */
  public @Nullable Signal await(Duration atMost) throws InterruptedException {
    long deadline = System.nanoTime() + bounded(atMost).toNanos();
    Signal came;
    while ((came = signal) == null) {
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        return null;
      }
      LockSupport.parkNanos(this, left);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    synchronized (this) {
      came = signal;
      if (!(came instanceof Signal.Stop)) {
        signal = null;
      }
    }
    return came;
  }

  private static Duration bounded(Duration wait) {
    if (wait.isNegative()) {
      return Duration.ZERO;
    }
    return wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT;
  }

  /** Wakes the owner. A stop is never overwritten. */
  void signal(Signal what) {
    synchronized (this) {
      if (!(signal instanceof Signal.Stop)) {
        signal = what;
      }
    }
    LockSupport.unpark(thread);
  }

  /** Waits until its owner has left, and says whether the record is settled. */
  public boolean awaitEnd() throws InterruptedException {
    left.await();
    return settled;
  }

  synchronized void leave(boolean recordSettled) {
    if (left.getCount() > 0) {
      settled = recordSettled;
      left.countDown();
    }
  }
}
