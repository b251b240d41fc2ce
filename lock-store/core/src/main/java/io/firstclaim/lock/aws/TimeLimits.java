package io.firstclaim.lock.aws;

import java.time.Duration;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;

/** How long requests may take. */
public final class TimeLimits {
  /**
   * Looking at a table or bucket may take longer than a claim does, above all when it is the first
   * request.
   */
  public static final AwsRequestOverrideConfiguration SETUP =
      AwsRequestOverrideConfiguration.builder()
          .apiCallTimeout(Duration.ofSeconds(30))
          .apiCallAttemptTimeout(Duration.ofSeconds(10))
          .build();

  private TimeLimits() {}

  /**
   * A client's configuration with time limits; keeps the rest of what it was given.
   *
   * @param limit for one request with its retries; there is time for at least two tries
   */
  public static ClientOverrideConfiguration.Builder limited(
      ClientOverrideConfiguration given, Duration limit) {
    return given.toBuilder()
        .apiCallTimeout(limit)
        .apiCallAttemptTimeout(limit.multipliedBy(2).dividedBy(5))
        .scheduledExecutorService(given.scheduledExecutorService().orElseGet(RequestTimer::get));
  }
}
