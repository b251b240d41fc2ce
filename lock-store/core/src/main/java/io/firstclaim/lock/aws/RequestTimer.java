package io.firstclaim.lock.aws;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/**
 * Ends the requests that take too long, for all clients of the AWS SDK in this process.
 *
 * <p>The SDK's own timer keeps the time limits of a request until they would have been over, long
 * after its answer has come, and wakes up for each: about a tenth of a client's CPU time, and the
 * memory of seconds of requests. This one forgets them with the answer.
 */
public final class RequestTimer {
  private static final ScheduledExecutorService TIMER = start();

  private RequestTimer() {}

  /** The only one: it is never shut down, by a client that is closed neither. Thread-safe. */
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
