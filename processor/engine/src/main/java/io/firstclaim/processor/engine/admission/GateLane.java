package io.firstclaim.processor.engine.admission;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A way through the {@link StoreGate}. While the store does not answer there, one at a time is let
 * in, to try. Guarded by the gate's lock, but for the fault and the failures.
 */
final class GateLane {
  final String name;

  /** Where those wait who are not let in. */
  final Condition room;

  int waiting;
  int inside;

  /** Why the store did not answer; null while it does. */
  volatile @Nullable String fault;

  /** Whether a thread sees to it that somebody tries. */
  boolean mended;

  // While there is a fault: whether the next one may try, whether one is trying, and whether one
  // has asked the store.
  final Condition tried;
  boolean mayTry;
  boolean trying;
  boolean asked;

  /** How many tries in a row have failed. */
  final AtomicInteger failures = new AtomicInteger();

  GateLane(String name, Lock lock) {
    this.name = name;
    this.room = lock.newCondition();
    this.tried = lock.newCondition();
  }

  boolean isShut() {
    return fault != null && !mayTry;
  }

  /** Lets one in, and says whether it is the one that tries. */
  boolean letIn() {
    inside++;
    boolean tries = fault != null;
    if (tries) {
      mayTry = false;
      trying = true;
      tried.signal();
    }
    return tries;
  }

  void letOut(boolean tries) {
    inside--;
    if (tries) {
      trying = false;
      tried.signal();
    }
  }

  /** One that tried has asked the store, which answered unless there is a fault. */
  void hasAsked(@Nullable String found) {
    asked = true;
    fault = found;
    if (found != null) {
      failures.incrementAndGet();
    }
  }
}
