package io.firstclaim.lock.aws;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/**
 * Ends requests that take too long, for all AWS SDK clients in this process.
 *
 * <p>The SDK's own timer keeps a request's time limits until they would have expired, long after
 * its answer has come, and wakes up for each: that costs about a tenth of a client's CPU time, and
 * the memory of seconds of requests. This one forgets them as soon as the answer comes.
 */
public final class RequestTimer {
  private static final ScheduledExecutorService TIMER = start();

  private RequestTimer() {}

  /** The only one; it is never shut down, not even when a client is closed. Thread-safe. */
  public static ScheduledExecutorService get() {
    return TIMER;
  }

  private static ScheduledExecutorService start() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("firstclaim-request-timer").factory());
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }
}
