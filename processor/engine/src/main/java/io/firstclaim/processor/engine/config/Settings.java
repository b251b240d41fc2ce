package io.firstclaim.processor.engine.config;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.engine.identity.RecordIdSource;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All settings of an instance, checked. The names and defaults are the README's.
 *
 * @param zone this deployment's zone
 * @param zones all zones; empty if records have no preferred zone
 * @param input what is read
 * @param claim how it is claimed
 * @param handler what is done with it
 * @param retry what happens when that fails
 * @param deadLetterTopic one for all input topics; if empty, {@code <topic>.dlt} for each
 * @param outcomesTopic where outcomes are published and learnt; if empty, nowhere
 * @param shutdownGrace how long running handlers may finish when the service is told to stop
 * @param kafka passed to the Kafka clients as they are
 */
public record Settings(
    String zone,
    List<String> zones,
    Input input,
    Claiming claim,
    Handling handler,
    Retrying retry,
    Optional<String> deadLetterTopic,
    Optional<String> outcomesTopic,
    Duration shutdownGrace,
    Map<String, Object> kafka) {

  /** Without the Kafka clients' settings, which hold secrets. */
  @Override
  public String toString() {
    return "Settings[zone=%s, zones=%s, input=%s, claim=%s, handler=%s, retry=%s]"
        .formatted(zone, zones, input, claim, handler.type(), retry);
  }

  /**
   * What is read.
   *
   * @param topics the input topics
   * @param group the consumer group: one per zone
   * @param recordId where the ID is, first that yields
   * @param ordering which records wait for each other
   * @param maxInFlight records being claimed or handled at once
   * @param maxParked records waiting for something
   * @param replayHorizon how far back the input is ever rewound; if empty, the topic's retention
   */
  public record Input(
      List<String> topics,
      String group,
      List<RecordIdSource> recordId,
      Ordering ordering,
      int maxInFlight,
      int maxParked,
      Optional<Duration> replayHorizon) {}

  /** Which records wait for each other. */
  public enum Ordering {
    /** None. */
    UNORDERED,
    /** Those of one Kafka key. */
    KEY,
    /** Those of one partition. */
    PARTITION
  }

  /**
   * How records are claimed.
   *
   * @param backend where claims are kept
   * @param store namespace, holder, lease, skew, retention
   * @param renew whether leases are renewed while the handler runs
   * @param headStart how long the other zones leave a record to its preferred zone
   * @param onMismatch what becomes of a record whose ID is known with another payload
   * @param table the DynamoDB table
   * @param create whether the table or bucket is created if it is missing
   * @param s3 where claims are on S3; empty for another backend
   */
  public record Claiming(
      Backend backend,
      ClaimSettings store,
      boolean renew,
      Duration headStart,
      OnMismatch onMismatch,
      String table,
      boolean create,
      Optional<S3> s3) {}

  /**
   * Where claims are on S3.
   *
   * @param bucket the bucket
   * @param prefix all claims are under it, and nothing else
   * @param sweep how often claims past their retention are deleted; zero for never
   */
  public record S3(String bucket, String prefix, Duration sweep) {}

  /** Where claims are kept. */
  public enum Backend {
    /** In a DynamoDB table. */
    DYNAMODB,
    /** In an S3 bucket. */
    S3,
    /** In this process. */
    MEMORY
  }

  /** What becomes of a record whose ID is known with another payload. */
  public enum OnMismatch {
    /** It is given up. */
    DEAD_LETTER,
    /** It counts as a duplicate. */
    SKIP
  }

  /**
   * What is done with a record.
   *
   * @param type {@code log}, {@code http}, {@code topic}, {@code dataset} or the name of a handler
   *     bean
   * @param timeout after which a handler is interrupted and its attempt has failed
   * @param httpUrl where the {@code http} handler posts to
   * @param httpTimeout how long it waits for an answer
   * @param topicName where the {@code topic} handler publishes
   * @param dataset where the {@code dataset} handler stores; empty for another handler
   */
  public record Handling(
      String type,
      Duration timeout,
      Optional<URI> httpUrl,
      Duration httpTimeout,
      Optional<String> topicName,
      Optional<DatasetSettings> dataset) {}

  /**
   * What happens when a handler fails.
   *
   * @param maxAttempts after which a record is given up
   * @param backoff before the second attempt; doubles from there
   * @param maxBackoff where the doubling ends
   */
  public record Retrying(int maxAttempts, Duration backoff, Duration maxBackoff) {}
}
