package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.processor.engine.identity.ClaimId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The right to be the only one in this instance that works on an ID, and the place where its owner
 * waits for something. Made and awaited by one thread, signalled by any. Others of its ID wait here
 * too, without a thread, until the owner leaves.
 *
 * @param <D> what is worked on
 */
public final class Ticket<D> {
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

  private final ClaimId id;
  private final Fingerprint fingerprint;
  private final D owner;
  private final Thread thread = Thread.currentThread();
  private final List<D> followers = new ArrayList<>();
  private boolean left;
  private volatile Doing doing = Doing.STORE;
  private volatile @Nullable Signal signal;

  /** A ticket of the current thread, which works on this. */
  public Ticket(ClaimId id, Fingerprint fingerprint, D owner) {
    this.id = id;
    this.fingerprint = fingerprint;
    this.owner = owner;
  }

  ClaimId id() {
    return id;
  }

  /** What its owner works on. */
  public D owner() {
    return owner;
  }

  /** What its owner is doing, as it said last. */
  public Doing doing() {
    return doing;
  }

  /** Its owner is doing this from now on. */
  public void doing(Doing now) {
    doing = now;
  }

  /** Those that wait until the owner leaves. */
  public synchronized List<D> followers() {
    return List.copyOf(followers);
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

  /** Has this wait until the owner leaves; false if it has left already. */
  public synchronized boolean follow(D follower) {
    return !left && followers.add(follower);
  }

  /** Takes out those of its followers that are meant. */
  synchronized List<D> takeOut(Predicate<? super D> meant) {
    List<D> taken = followers.stream().filter(meant).toList();
    if (!taken.isEmpty()) {
      boolean _ = followers.removeIf(meant);
    }
    return taken;
  }

  synchronized List<D> leave() {
    left = true;
    return takeOut(_ -> true);
  }
}
