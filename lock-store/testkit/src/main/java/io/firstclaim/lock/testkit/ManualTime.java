package io.firstclaim.lock.testkit;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * The clocks of one machine, driven by the test. Machines made by {@link #machine} live in the same
 * time and differ by the skew of their wall clocks and the origin of their monotonic ones.
 *
 * <p>It starts in 2100, so that no store's own garbage collection finds anything to collect.
 */
public final class ManualTime implements TimeSource {
  private static final Instant START = Instant.parse("2100-01-01T00:00:00Z");

  private final AtomicLong elapsed;

  /**
   * Who sleeps until when, on all machines; its monitor is notified when this or the time changes.
   */
  private final Map<Thread, Long> sleepers;

  private final long origin;
  private volatile Duration skew;
  private final AtomicLong suspended = new AtomicLong();
  private volatile int slew;
  private volatile long slewedSince;
  private volatile long slewedBefore;

  private ManualTime(AtomicLong elapsed, Map<Thread, Long> sleepers, long origin, Duration skew) {
    this.elapsed = elapsed;
    this.sleepers = sleepers;
    this.origin = origin;
    this.skew = skew;
  }

  /** A machine whose wall clock is right. */
  public static ManualTime start() {
    return new ManualTime(new AtomicLong(), new HashMap<>(), 1_000_000, Duration.ZERO);
  }

  /** Another machine, its wall clock ahead by this much. */
  public ManualTime machine(Duration skewOfWall) {
    return new ManualTime(elapsed, sleepers, origin * 31 + Long.MAX_VALUE / 2, skewOfWall);
  }

  @Override
  public Moment now() {
    long nanos = elapsed.get();
    long own = nanos + slewed(nanos);
    return new Moment(START.plusNanos(own).plus(skew), origin + own - suspended.get());
  }

  @Override
  public void sleep(Duration duration) throws InterruptedException {
    synchronized (sleepers) {
      long wake = elapsed.get() + duration.toNanos();
      sleepers.put(Thread.currentThread(), wake);
      sleepers.notifyAll();
      try {
        while (elapsed.get() < wake) {
          sleepers.wait();
        }
      } finally {
        sleepers.remove(Thread.currentThread());
      }
    }
  }

  /** Time passes, for all machines. */
  public void advance(Duration by) {
    synchronized (sleepers) {
      elapsed.addAndGet(by.toNanos());
      sleepers.notifyAll();
    }
  }

  /**
   * Lets time pass until this thread has ended: from one sleeper's waking to the next, whenever the
   * thread sleeps, nobody is still to wake and nothing else goes on.
   */
  public void passFor(Thread sleeper, BooleanSupplier elseQuiet) throws InterruptedException {
    while (sleeper.isAlive()) {
      boolean quiet = elseQuiet.getAsBoolean();
      synchronized (sleepers) {
        long next = sleepers.values().stream().mapToLong(wake -> wake).min().orElse(0);
        if (quiet && sleepers.containsKey(sleeper) && next > elapsed.get()) {
          advance(Duration.ofNanos(next - elapsed.get()));
        } else {
          sleepers.wait(1);
        }
      }
    }
  }

  /**
   * Lets time pass until the next sleeper is to wake, if that is within this and nobody is still to
   * wake: so that however slow the machine is, nothing times out that is at work.
   */
  public void passToTheNext(Duration within) {
    synchronized (sleepers) {
      long next = sleepers.values().stream().mapToLong(wake -> wake).min().orElse(0);
      long left = next - elapsed.get();
      if (left > 0 && left <= within.toNanos()) {
        advance(Duration.ofNanos(left));
      }
    }
  }

  /** Waits until a thread whose name begins like this sleeps. */
  public void awaitSleeper(String name) throws InterruptedException {
    synchronized (sleepers) {
      while (sleepers.entrySet().stream()
          .noneMatch(
              sleeper ->
                  sleeper.getKey().getName().startsWith(name)
                      && sleeper.getValue() > elapsed.get())) {
        sleepers.wait();
      }
    }
  }

  /** Somebody sets this machine's wall clock. */
  public void setSkew(Duration skewOfWall) {
    skew = skewOfWall;
  }

  /** From now on both clocks of this machine run this much too fast; negative: too slow. */
  public void slew(int partsPerMillion) {
    long now = elapsed.get();
    slewedBefore = slewed(now);
    slewedSince = now;
    slew = partsPerMillion;
  }

  private long slewed(long now) {
    return slewedBefore + Math.round((now - slewedSince) * (slew / 1e6));
  }

  /** This machine is suspended: time passes, but its monotonic clock stands still. */
  public void suspend(Duration by) {
    suspended.addAndGet(by.toNanos());
    advance(by);
  }

  /** The true time, as a wall clock that is right would show it. */
  public Instant right() {
    return START.plusNanos(elapsed.get());
  }

  /** The true time since the start. */
  public Duration elapsed() {
    return Duration.ofNanos(elapsed.get());
  }
}
