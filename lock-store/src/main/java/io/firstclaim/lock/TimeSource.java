package io.firstclaim.lock;

import java.time.Instant;

/** Where the time comes from; tests pass one that they drive. Thread-safe. */
@FunctionalInterface
public interface TimeSource {
  /** Both clocks, now. */
  Moment now();

  /** The clocks of this machine. */
  static TimeSource system() {
    return () -> new Moment(Instant.now(), System.nanoTime());
  }
}
