package io.firstclaim.micronaut.config;

import io.micronaut.context.annotation.ConfigurationProperties;
import io.micronaut.core.annotation.Nullable;
import io.micronaut.core.bind.annotation.Bindable;
import io.micronaut.core.convert.format.ReadableBytes;
import java.time.Duration;

/** The settings, by the names that the service has for them. */
public final class FirstclaimSettings {
  private FirstclaimSettings() {}

  /** What claims are kept in. */
  public enum BackendName {
    /** A DynamoDB table. */
    DYNAMODB,
    /** An S3 bucket. */
    S3,
    /** This process alone. */
    MEMORY
  }

  /**
   * Who claims.
   *
   * @param application names what two applications must not share; {@code
   *     micronaut.application.name} if not given, and {@code firstclaim} without that
   * @param zone this deployment's zone, for the headers of dead letters
   * @param instance names this process; host name and a random number if not given
   */
  @ConfigurationProperties("firstclaim")
  public record Instance(
      @Nullable String application,
      @Bindable(defaultValue = "default") String zone,
      @Nullable String instance) {}

  /**
   * How claims are made, and what they are kept in.
   *
   * @param backend what claims are kept in; the one whose module is on the class path if not given
   * @param namespace separates applications that share a table or bucket; the application if not
   *     given
   * @param lease length of a lease; at least three times the skew bound
   * @param renew whether a lease is renewed, at a third of it, while its listener runs
   * @param maxSkew declared bound on how far the clocks of the store's own machines differ; at
   *     least 500ms
   * @param retention how long finished claims are kept; at least the topic's retention.ms +
   *     segment.ms + 1 day
   * @param create whether to create the table or bucket at start if it is missing
   */
  @ConfigurationProperties("firstclaim.claim")
  public record Claim(
      @Nullable BackendName backend,
      @Nullable String namespace,
      @Bindable(defaultValue = "30s") Duration lease,
      @Bindable(defaultValue = "true") boolean renew,
      @Bindable(defaultValue = "1s") Duration maxSkew,
      @Bindable(defaultValue = "15d") Duration retention,
      @Bindable(defaultValue = "false") boolean create) {}

  /**
   * A DynamoDB table.
   *
   * @param table the table that claims are kept in
   * @param batch conditional writes in one request, 1 to 25; 1 for each in its own
   */
  @ConfigurationProperties("firstclaim.claim.dynamodb")
  public record DynamoDb(
      @Bindable(defaultValue = "firstclaim") String table,
      @Bindable(defaultValue = "25") int batch) {}

  /**
   * An S3 bucket.
   *
   * @param bucket the general purpose bucket that claims are kept in
   * @param prefix nothing but claims may be under it
   */
  @ConfigurationProperties("firstclaim.claim.s3")
  public record S3(@Nullable String bucket, @Bindable(defaultValue = "claims/") String prefix) {}

  /**
   * Settings of listeners, and of handlers with {@code @IdempotencyKey}.
   *
   * @param timeout how long until one is interrupted and the attempt fails
   */
  @ConfigurationProperties("firstclaim.handler")
  public record Handler(@Bindable(defaultValue = "5m") Duration timeout) {}

  /**
   * How often a listener that throws is tried.
   *
   * @param maxAttempts how many attempts before the record is a dead letter
   * @param backoff pause before the second attempt; doubles from there, with jitter
   * @param maxBackoff where the doubling ends
   */
  @ConfigurationProperties("firstclaim.retry")
  public record Retry(
      @Bindable(defaultValue = "5") int maxAttempts,
      @Bindable(defaultValue = "1s") Duration backoff,
      @Bindable(defaultValue = "1m") Duration maxBackoff) {}

  /**
   * Where records go that are given up.
   *
   * @param topic of all listeners; the input topic with .dlt after it if not given
   */
  @ConfigurationProperties("firstclaim.dead-letter")
  public record DeadLetter(@Nullable String topic) {}

  /**
   * Settings of handlers with {@code @IdempotencyKey}.
   *
   * @param maxRequest the largest body of a request that is taken
   * @param maxAnswer how much is stored of an answer, as JSON with the body in Base64; the body of
   *     one that needs more is not stored. 1KB to 350KB
   */
  @ConfigurationProperties("firstclaim.web")
  public record Web(
      @Bindable(defaultValue = "1MB") @ReadableBytes long maxRequest,
      @Bindable(defaultValue = "64KB") @ReadableBytes long maxAnswer) {}

  /**
   * Settings of scheduled jobs.
   *
   * @param timeout how long until a job is interrupted and has failed
   */
  @ConfigurationProperties("firstclaim.job")
  public record Job(@Bindable(defaultValue = "1h") Duration timeout) {}
}
