package io.firstclaim.lock;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The clocks of one machine, driven by the test. Machines made by {@link #machine} live in the same
 * time and differ by the skew of their wall clocks and the origin of their monotonic ones.
 *
 * <p>It starts in 2100, so that no store's own garbage collection finds anything to collect.
 */
public final class ManualTime implements TimeSource {
  private static final Instant START = Instant.parse("2100-01-01T00:00:00Z");

  private final AtomicLong elapsed;
  private final long origin;
  private volatile Duration skew;

  private ManualTime(AtomicLong elapsed, long origin, Duration skew) {
    this.elapsed = elapsed;
    this.origin = origin;
    this.skew = skew;
  }

  /** A machine whose wall clock is right. */
  public static ManualTime start() {
    return new ManualTime(new AtomicLong(), 1_000_000, Duration.ZERO);
  }

  /** Another machine, its wall clock ahead by this much. */
  public ManualTime machine(Duration skewOfWall) {
    return new ManualTime(elapsed, origin * 31 + Long.MAX_VALUE / 2, skewOfWall);
  }

  @Override
  public Moment now() {
    long nanos = elapsed.get();
    return new Moment(START.plusNanos(nanos).plus(skew), origin + nanos);
  }

  /** Time passes, for all machines. */
  public void advance(Duration by) {
    elapsed.addAndGet(by.toNanos());
  }

  /** Somebody sets this machine's wall clock. */
  public void setSkew(Duration skewOfWall) {
    skew = skewOfWall;
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
