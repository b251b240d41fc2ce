package io.firstclaim.processor.engine.testing;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;

/** Waits for what other threads are about to do. */
public final class Eventually {
  private Eventually() {}

  /** Returns as soon as this holds; fails if it does not within five minutes. */
  public static void eventually(Callable<Boolean> holds) {
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .atMost(Duration.ofMinutes(5))
        .until(holds);
  }
}
