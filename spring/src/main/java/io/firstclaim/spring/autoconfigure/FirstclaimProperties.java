package io.firstclaim.spring.autoconfigure;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The settings, by the names that the service has for them. A name that is none of these stops the
 * start.
 *
 * @param application names what two applications must not share; {@code spring.application.name} if
 *     not given, and {@code firstclaim} without that
 * @param zone this deployment's zone, for the headers of dead letters
 * @param instance names this process; host name and a random number if not given
 * @param claim how claims are made, and what they are kept in
 * @param handler of listeners
 * @param retry how often a listener that throws is tried
 * @param deadLetter where records go that are given up
 * @param web of handlers with {@code @IdempotencyKey}
 * @param job of scheduled jobs
 */
@ConfigurationProperties(prefix = "firstclaim", ignoreUnknownFields = false)
public record FirstclaimProperties(
    @Nullable String application,
    @DefaultValue("default") String zone,
    @Nullable String instance,
    @DefaultValue Claim claim,
    @DefaultValue Handler handler,
    @DefaultValue Retry retry,
    @DefaultValue DeadLetter deadLetter,
    @DefaultValue Web web,
    @DefaultValue Job job) {

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
   * @param dynamodb of a DynamoDB table
   * @param s3 of an S3 bucket
   */
  public record Claim(
      @Nullable BackendName backend,
      @Nullable String namespace,
      @DefaultValue("30s") Duration lease,
      @DefaultValue("true") boolean renew,
      @DefaultValue("1s") Duration maxSkew,
      @DefaultValue("15d") Duration retention,
      @DefaultValue("false") boolean create,
      @DefaultValue DynamoDb dynamodb,
      @DefaultValue S3 s3) {}

  /**
   * A DynamoDB table.
   *
   * @param table the table that claims are kept in
   * @param batch conditional writes in one request, 1 to 25; 1 for each in its own
   */
  public record DynamoDb(@DefaultValue("firstclaim") String table, @DefaultValue("25") int batch) {}

  /**
   * An S3 bucket.
   *
   * @param bucket the general purpose bucket that claims are kept in
   * @param prefix nothing but claims may be under it
   */
  public record S3(@Nullable String bucket, @DefaultValue("claims/") String prefix) {}

  /**
   * Settings of listeners, and of handlers with {@code @IdempotencyKey}.
   *
   * @param timeout how long until one is interrupted and the attempt fails
   */
  public record Handler(@DefaultValue("5m") Duration timeout) {}

  /**
   * How often a listener that throws is tried.
   *
   * @param maxAttempts how many attempts before the record is a dead letter
   * @param backoff pause before the second attempt; doubles from there, with jitter
   * @param maxBackoff where the doubling ends
   */
  public record Retry(
      @DefaultValue("5") int maxAttempts,
      @DefaultValue("1s") Duration backoff,
      @DefaultValue("1m") Duration maxBackoff) {}

  /**
   * Where records go that are given up.
   *
   * @param topic of all listeners; the input topic with .dlt after it if not given
   */
  public record DeadLetter(@Nullable String topic) {}

  /**
   * Settings of handlers with {@code @IdempotencyKey}.
   *
   * @param maxRequest the largest body of a request that is taken
   * @param maxAnswer how much is stored of an answer, as JSON with the body in Base64; the body of
   *     one that needs more is not stored. 1KB to 350KB
   */
  public record Web(
      @DefaultValue("1MB") DataSize maxRequest, @DefaultValue("64KB") DataSize maxAnswer) {}

  /**
   * Settings of scheduled jobs.
   *
   * @param timeout how long until a job is interrupted and has failed
   */
  public record Job(@DefaultValue("1h") Duration timeout) {}
}
