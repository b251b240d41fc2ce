package io.firstclaim.lock;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Says when a line of the log may be repeated, so that what befalls a thousand records at once is
 * told once: a minute after the last time. Thread-safe.
 */
public final class OncePerMinute {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final TimeSource time;
  private @Nullable Moment last;

  /** Nothing has been told yet. */
  public OncePerMinute(TimeSource time) {
    this.time = time;
  }

  /** Whether it is time to tell; if so, it counts as told. */
  public synchronized boolean isDue() {
    Moment now = time.now();
    if (last != null && now.since(last).compareTo(MINUTE) < 0) {
      return false;
    }
    last = now;
    return true;
  }
}
