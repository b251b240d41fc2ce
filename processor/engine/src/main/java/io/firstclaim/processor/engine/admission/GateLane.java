package io.firstclaim.processor.engine.admission;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A way through the {@link StoreGate}. While the store does not answer there, one at a time is let
 * in, to try. Guarded by the gate's lock, but for the fault and the failures.
 */
final class GateLane {
  /** A try of what failed, while there is a fault. */
  enum Retry {
    /** Nobody tries, or who did has left without asking the store. */
    NONE,
    /** The next one may try. */
    OFFERED,
    UNDER_WAY,
    /** The store was asked, and has answered or not. */
    ANSWERED
  }

  final String name;

  /** Where those wait who are not let in. */
  final Condition room;

  int waiting;
  int inside;

  /** Why the store did not answer; null while it does. */
  volatile @Nullable String fault;

  /** Whether a thread sees to it that somebody tries. */
  boolean mended;

  private Retry retry = Retry.NONE;
  private final Condition retryChanged;

  /** How many tries in a row have failed. */
  final AtomicInteger failures = new AtomicInteger();

  GateLane(String name, Lock lock) {
    this.name = name;
    this.room = lock.newCondition();
    this.retryChanged = lock.newCondition();
  }

  boolean isShut() {
    return fault != null && retry != Retry.OFFERED;
  }

  /** Lets one in, and says whether it is the one that tries. */
  boolean letIn() {
    inside++;
    boolean tries = fault != null;
    if (tries) {
      become(Retry.UNDER_WAY);
    }
    return tries;
  }

  void letOut(boolean tries) {
    inside--;
    if (tries && retry == Retry.UNDER_WAY) {
      become(Retry.NONE); // its record has ended, and it need not ask any more
    }
  }

  /** One that tried has asked the store, which answered unless there is a fault. */
  void hasAsked(@Nullable String found) {
    become(Retry.ANSWERED);
    fault = found;
    if (found != null) {
      failures.incrementAndGet();
    }
  }

  /** From now on, whoever comes first may try. */
  void offerRetry() {
    become(Retry.OFFERED);
  }

  /**
   * Waits until nobody tries any more.
   *
   * @param toCome how long somebody may take to come who does
   * @return what has become of the retry; nobody is let in to try from now on
   */
  Retry awaitRetry(Duration toCome) throws InterruptedException {
    long left = toCome.toNanos();
    while (retry == Retry.OFFERED && left > 0) {
      left = retryChanged.awaitNanos(left);
    }
    while (retry == Retry.UNDER_WAY) {
      retryChanged.await();
    }
    Retry result = retry;
    retry = Retry.NONE;
    return result;
  }

  private void become(Retry next) {
    retry = next;
    retryChanged.signal(); // wakes the thread that mends the lane
  }
}
