package io.firstclaim.lock.testkit.fault;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/** A {@link Fault} for the requests that match, so many times or until it is removed. */
public final class Rule {
  private final Predicate<Request> match;
  private final Fault fault;
  private final long times;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private long hits;

  private Rule(long times, Predicate<Request> match, Fault fault) {
    this.times = times;
    this.match = match;
    this.fault = fault;
  }

  public static Rule once(Predicate<Request> match, Fault fault) {
    return times(1, match, fault);
  }

  public static Rule times(long times, Predicate<Request> match, Fault fault) {
    return new Rule(times, match, fault);
  }

  public static Rule always(Predicate<Request> match, Fault fault) {
    return times(Long.MAX_VALUE, match, fault);
  }

  /** How many requests the rule was applied to. */
  public long hits() {
    lock.lock();
    try {
      return hits;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the rule was applied {@code wanted} times; false if that takes longer. */
  public boolean awaitHits(long wanted, Duration timeout) throws InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    lock.lock();
    try {
      while (hits < wanted) {
        if (changed.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
          continue;
        }
        return hits >= wanted;
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  Fault fault() {
    return fault;
  }

  /** Whether it was not applied so many times yet. */
  boolean isInForce() {
    return hits() < times;
  }

  /** Whether the rule applies to this request, which then counts as a hit. */
  boolean take(Request request) {
    if (!match.test(request)) {
      return false;
    }
    lock.lock();
    try {
      if (hits >= times) {
        return false;
      }
      hits++;
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }
}
