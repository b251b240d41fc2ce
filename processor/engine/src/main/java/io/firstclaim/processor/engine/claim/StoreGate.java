package io.firstclaim.processor.engine.claim;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a bounded number of records ask the lock store at once, so that they queue here, where no
 * clock runs, and not in the store, where they time out. The bound follows what the store can do:
 * it halves when the store fails to answer and grows by one with every round of answers (additive
 * increase, multiplicative decrease, like TCP's congestion window: RFC 5681).
 *
 * <p>While the store does not answer, nobody is let in: one thread asks it again and again, so that
 * an outage costs the store one request at a time.
 *
 * <p>Claims and settlements have a lane each: otherwise a record that was granted would wait behind
 * those that want to be, and lose its lease. The claims' lane is half as wide, so that what was
 * begun ends soon; the fewer records are in between, the fewer another zone asks for in vain.
 * Thread-safe.
 */
public final class StoreGate {
  /** How many fit in one lane; more would only queue up in the client. */
  private static final int MOST = 128;

  private static final int LEAST = 2;

  private static final Logger LOG = LoggerFactory.getLogger(StoreGate.class);
  private static final Backoff PAUSES = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(4));

  private final Runnable probe;
  private final ReentrantLock lock = new ReentrantLock();
  private final Lane claims = new Lane(2);
  private final Lane settlements = new Lane(1);
  private double limit = MOST;
  private volatile @Nullable String fault;

  /**
   * An open gate.
   *
   * @param probe asks the store something; throws {@link StoreUnavailableException} if it cannot
   */
  public StoreGate(Runnable probe) {
    this.probe = probe;
  }

  /**
   * How long a record waits to repeat a step after this many went unanswered: a store that answers
   * the probe may still fail on that very step, again and again.
   */
  public static Duration pauseAfter(int failuresInARow) {
    return PAUSES.after(failuresInARow - 1);
  }

  /** Whether the store answered last time. */
  public boolean isOpen() {
    return fault == null;
  }

  /** Why the gate is shut; null if it is open. */
  public @Nullable String fault() {
    return fault;
  }

  /** For records that want to be claimed. */
  public Lane claims() {
    return claims;
  }

  /** For records that want to be completed, released or buried. */
  public Lane settlements() {
    return settlements;
  }

  /** Completes, releases or buries a record once there is room for that. */
  public SettleResult settle(Supplier<SettleResult> step) throws InterruptedException {
    boolean _ = settlements.enter(() -> true);
    try {
      SettleResult result = step.get();
      if (result instanceof SettleResult.Unknown(String why)) {
        shut(why);
      }
      return result;
    } finally {
      settlements.leave();
    }
  }

  /** One of the ways through the gate. */
  public final class Lane {
    private final Condition room = lock.newCondition();
    private final int divisor;
    private int inside;

    private Lane(int divisor) {
      this.divisor = divisor;
    }

    /** Whether a new entrant would have to wait. */
    public boolean isFull() {
      lock.lock();
      try {
        return !hasPlace();
      } finally {
        lock.unlock();
      }
    }

    /**
     * Waits until the gate is open and the lane has a place, which the caller must {@linkplain
     * #leave() leave} again.
     *
     * @return false, and no place, if {@code wanted} no longer holds; a waiter checks that again
     *     whenever it is woken, for which see {@link #lookAgain()}
     */
    public boolean enter(BooleanSupplier wanted) throws InterruptedException {
      lock.lockInterruptibly();
      try {
        while (wanted.getAsBoolean()) {
          if (hasPlace()) {
            inside++;
            return true;
          }
          room.await();
        }
        room.signal(); // if a free place woke this one, it is somebody else's
        return false;
      } finally {
        lock.unlock();
      }
    }

    private boolean hasPlace() {
      return isOpen() && inside < (int) limit / divisor;
    }

    /** Gives the place back: the store answered, or the gate was told that it did not. */
    public void leave() {
      lock.lock();
      try {
        inside--;
        if (isOpen()) {
          limit = Math.min(MOST, limit + 1 / limit);
        }
        room.signal();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Has all waiters check whether they are still wanted. */
  public void lookAgain() {
    lock.lock();
    try {
      claims.room.signalAll();
      settlements.room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The store did not answer. */
  public void shut(String why) {
    lock.lock();
    try {
      if (!isOpen()) {
        return;
      }
      fault = why;
      limit = Math.max(LEAST, limit / 2);
    } finally {
      lock.unlock();
    }
    LOG.warn("The lock store does not answer; no record is started until it does: {}", why);
    Thread.ofPlatform().daemon().name("firstclaim-store-probe").start(this::probeUntilItAnswers);
  }

  private void probeUntilItAnswers() {
    for (int failures = 1; !answers(); failures++) {
      try {
        Thread.sleep(PAUSES.after(failures));
      } catch (InterruptedException e) {
        return; // nobody interrupts this thread
      }
    }
    fault = null;
    lookAgain();
    LOG.info("The lock store answers again");
  }

  private boolean answers() {
    try {
      probe.run();
      return true;
    } catch (StoreUnavailableException e) {
      LOG.debug("The lock store still does not answer", e);
      return false;
    } catch (RuntimeException | Error e) {
      LOG.error("Asking the lock store failed in an unforeseen way; trying again", e);
      return false;
    }
  }
}
