package io.firstclaim.lock;

import java.time.Duration;
import java.time.Instant;

/**
 * One reading of both clocks of a machine: the wall clock, which other machines can compare with
 * theirs, and the monotonic one, which never jumps but means something only in this process.
 *
 * @param wall the wall clock
 * @param ticks nanoseconds of the monotonic clock, from an arbitrary origin
 */
public record Moment(Instant wall, long ticks) {
  /** The time from {@code earlier} to this moment on the monotonic clock. */
  public Duration since(Moment earlier) {
    return Duration.ofNanos(ticks - earlier.ticks);
  }
}
