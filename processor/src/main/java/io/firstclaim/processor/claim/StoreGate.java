package io.firstclaim.processor.claim;

import io.firstclaim.lock.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a bounded number of records ask the lock store at once, so that they queue here, where no
 * clock runs, and not in the store; and none while it does not answer. Then one thread asks it
 * again and again, so that an outage costs the store one request at a time. Renewals do not pass
 * here. Thread-safe.
 */
public final class StoreGate {
  private static final Logger LOG = LoggerFactory.getLogger(StoreGate.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
  private static final Duration LOOK_UP = Duration.ofMillis(500);

  /** More at once only queue up in the client or the store, and time out there. */
  private static final int PLACES = 64;

  private final Runnable probe;
  private final Semaphore places = new Semaphore(PLACES, true);
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition opened = lock.newCondition();
  private volatile @Nullable String fault;

  /**
   * An open gate.
   *
   * @param probe asks the store something; throws {@link StoreUnavailableException} if it cannot
   */
  public StoreGate(Runnable probe) {
    this.probe = probe;
  }

  /** Whether the store answered last time. */
  public boolean isOpen() {
    return fault == null;
  }

  /** Why the gate is shut; null if it is open. */
  public @Nullable String fault() {
    return fault;
  }

  /** The store did not answer. */
  public void shut(String why) {
    lock.lock();
    try {
      if (fault != null) {
        return;
      }
      fault = why;
    } finally {
      lock.unlock();
    }
    LOG.warn("The lock store does not answer; no record is started until it does: {}", why);
    Thread.ofVirtual().name("firstclaim-store-probe").start(this::probeUntilItAnswers);
  }

  /**
   * Waits until the gate is open and has a place, which the caller must {@linkplain #leave() leave}
   * again.
   *
   * @return false, and no place, if {@code wanted} holds no longer
   */
  public boolean enter(BooleanSupplier wanted) throws InterruptedException {
    do {
      awaitOpen(wanted);
      if (!wanted.getAsBoolean()) {
        return false;
      }
      places.acquire();
      if (isOpen()) {
        return true;
      }
      places.release();
    } while (true);
  }

  /** Gives the place back. */
  public void leave() {
    places.release();
  }

  private void awaitOpen(BooleanSupplier wanted) throws InterruptedException {
    if (isOpen()) {
      return;
    }
    lock.lockInterruptibly();
    try {
      while (!isOpen() && wanted.getAsBoolean()) {
        boolean _ = opened.await(LOOK_UP.toNanos(), TimeUnit.NANOSECONDS);
      }
    } finally {
      lock.unlock();
    }
  }

  private void probeUntilItAnswers() {
    Duration pause = FIRST_PAUSE;
    while (!answers()) {
      try {
        Thread.sleep(pause.plusMillis(ThreadLocalRandom.current().nextLong(pause.toMillis())));
      } catch (InterruptedException e) {
        return; // nobody interrupts this thread
      }
      pause = pause.multipliedBy(2);
      if (pause.compareTo(LONGEST_PAUSE) > 0) {
        pause = LONGEST_PAUSE;
      }
    }
    lock.lock();
    try {
      fault = null;
      opened.signalAll();
    } finally {
      lock.unlock();
    }
    LOG.info("The lock store answers again");
  }

  private boolean answers() {
    try {
      probe.run();
      return true;
    } catch (StoreUnavailableException e) {
      LOG.debug("The lock store still does not answer", e);
      return false;
    } catch (RuntimeException e) {
      LOG.error("Asking the lock store failed in an unforeseen way; trying again", e);
      return false;
    }
  }
}
