package io.firstclaim.lock.aws;

import java.time.Duration;
import java.util.Optional;
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

  /**
   * For a document, which may have 8 MiB: they get through at a third of a megabyte a second. No
   * lease depends on it.
   */
  public static final Duration DOCUMENT = Duration.ofSeconds(60);

  /** A try that is given up before a slow store answers only makes the store slower. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private TimeLimits() {}

  /**
   * A client's configuration with time limits; keeps the rest of what it was given.
   *
   * @param limit for one request with its retries: 5 s are time for two tries at least, 2 s and
   *     less for a single one
   */
  public static ClientOverrideConfiguration.Builder limited(
      ClientOverrideConfiguration given, Duration limit) {
    return given.toBuilder()
        .apiCallTimeout(limit)
        .apiCallAttemptTimeout(ofOneTry(limit))
        .scheduledExecutorService(given.scheduledExecutorService().orElseGet(RequestTimer::get));
  }

  /**
   * The limits of each request that must not take longer, whatever its client's are; shorter ones
   * of the client stay.
   *
   * @param client the configuration of the client that sends it
   * @param limit for one request with its retries
   */
  public static AwsRequestOverrideConfiguration of(
      ClientOverrideConfiguration client, Duration limit) {
    return AwsRequestOverrideConfiguration.builder()
        .apiCallTimeout(shorter(limit, client.apiCallTimeout()))
        .apiCallAttemptTimeout(shorter(ofOneTry(limit), client.apiCallAttemptTimeout()))
        .build();
  }

  private static Duration ofOneTry(Duration limit) {
    Duration share = limit.multipliedBy(2).dividedBy(5);
    return share.compareTo(PATIENCE) < 0 ? shorter(limit, Optional.of(PATIENCE)) : share;
  }

  private static Duration shorter(Duration limit, Optional<Duration> given) {
    return given.filter(own -> own.compareTo(limit) < 0).orElse(limit);
  }
}
