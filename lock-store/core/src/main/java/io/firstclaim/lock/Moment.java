package io.firstclaim.lock;

import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * One reading of both clocks of a machine: the wall clock, which anybody may set, and the monotonic
 * one, which never jumps but stands still while the machine is suspended and means something only
 * in this process. The two are read in turn, the monotonic one first.
 *
 * @param wall the wall clock
 * @param ticks nanoseconds of the monotonic clock, from an arbitrary origin
 */
public record Moment(Instant wall, long ticks) {
  /**
   * How far the two clocks may part before it counts as a leap. Slewing moves both alike, so this
   * is room for the time between the two readings. Two of it, one before a lease was written and
   * one while it is held, stay under the least {@link ClaimSettings#maxSkew}.
   */
  private static final Duration LEAP = Duration.ofMillis(200);

  /** How long a thread may stand still between the two readings of one moment. */
  private static final long APART = Duration.ofMillis(20).toNanos();

  /** Reads the two; anew after a pause in between, which could pass for a leap. */
  static Moment read(LongSupplier ticks, Supplier<Instant> wall) {
    while (true) {
      long before = ticks.getAsLong();
      Instant now = wall.get();
      if (ticks.getAsLong() - before <= APART) {
        return new Moment(now, before);
      }
    }
  }

  /** The time from {@code earlier} to this moment on the monotonic clock. */
  public Duration since(Moment earlier) {
    return Duration.ofNanos(ticks - earlier.ticks);
  }

  /**
   * Whether the clocks have parted since {@code earlier}: the wall clock was set, or the machine
   * was suspended, and more time may have passed than {@link #since} tells.
   */
  public boolean hasLeaptSince(Moment earlier) {
    return Duration.between(earlier.wall, wall).minus(since(earlier)).abs().compareTo(LEAP) > 0;
  }
}
