package io.firstclaim.lock;

import java.time.Duration;
import java.time.Instant;

/** Where the time comes from, and how to wait for it to pass; tests drive it. Thread-safe. */
@FunctionalInterface
public interface TimeSource {
  /**
   * Both clocks, now; the ticks are read first, so that a pause between the two makes a lease that
   * counts from here shorter and never longer.
   */
  Moment now();

  /** Blocks the current thread for this long; not at all if it is zero or negative. */
  default void sleep(Duration duration) throws InterruptedException {
    if (duration.isPositive()) { // a sleep of nothing would still make a virtual thread yield
      Thread.sleep(duration);
    }
  }

  /** The clocks of this machine. */
  static TimeSource system() {
    return () -> Moment.read(System::nanoTime, Instant::now);
  }
}
