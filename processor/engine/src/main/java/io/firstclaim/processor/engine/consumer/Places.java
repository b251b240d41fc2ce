package io.firstclaim.processor.engine.consumer;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * How many records are in flight (being claimed or handled) and how many wait. Those in flight are
 * bounded strictly; both bounds stop the polling. Thread-safe.
 */
final class Places {
  private final int maxInFlight;
  private final int maxParked;
  private final Semaphore flight;
  private final AtomicInteger present = new AtomicInteger();

  /** In flight, or waiting for nothing but a place in flight. */
  private final AtomicInteger ready = new AtomicInteger();

  private volatile @Nullable Thread poller;

  Places(int maxInFlight, int maxParked) {
    this.maxInFlight = maxInFlight;
    this.maxParked = maxParked;
    this.flight = new Semaphore(maxInFlight);
  }

  /** A record was delivered. */
  void arrive() {
    present.incrementAndGet();
  }

  /** A record is done. */
  void depart() {
    present.decrementAndGet();
    wakePoller();
  }

  /** Waits for a place in flight. */
  void takeOff() throws InterruptedException {
    ready.incrementAndGet();
    try {
      flight.acquire();
    } catch (InterruptedException e) {
      ready.decrementAndGet();
      throw e;
    }
  }

  /** Gives back the place in flight. */
  void land() {
    ready.decrementAndGet();
    flight.release();
    wakePoller();
  }

  /** Records that are being claimed or handled. */
  int inFlight() {
    return maxInFlight - flight.availablePermits();
  }

  /** Whether a record that wants a place in flight would have to wait. */
  boolean isFull() {
    return flight.availablePermits() == 0;
  }

  /** Records that wait: for another holder, a retry, their head start, or their turn. */
  int parked() {
    return Math.max(0, present.get() - inFlight());
  }

  boolean isEmpty() {
    return present.get() == 0;
  }

  boolean hasRoom() {
    return ready.get() < maxInFlight && present.get() - ready.get() < maxParked;
  }

  /** Waits for room, by the one thread that polls. */
  boolean awaitRoom(Duration atMost) {
    if (hasRoom()) {
      return true;
    }
    poller = Thread.currentThread();
    try {
      long deadline = System.nanoTime() + atMost.toNanos();
      long left;
      while (!hasRoom() && (left = deadline - System.nanoTime()) > 0) {
        LockSupport.parkNanos(this, left);
      }
    } finally {
      poller = null;
    }
    return hasRoom();
  }

  private void wakePoller() {
    Thread waiting = poller;
    if (waiting != null && hasRoom()) {
      LockSupport.unpark(waiting);
    }
  }
}
