package io.firstclaim.processor.service.config;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.engine.api.EngineSettings;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/**
 * All settings of an instance, checked. The names and defaults are the README's.
 *
 * @param engine those of the engine
 * @param claim where claims are kept
 * @param handler what is done with a record
 */
public record ServiceSettings(EngineSettings engine, Claiming claim, Handling handler) {

  /** Without what is passed to the Kafka clients and to the handler, which may hold secrets. */
  @Override
  public String toString() {
    return "ServiceSettings[engine=%s, claim=%s, handler=%s]"
        .formatted(engine, claim, handler.type());
  }

  /**
   * Where claims are kept.
   *
   * @param backend in what
   * @param store namespace, holder, lease, skew, retention
   * @param table the DynamoDB table
   * @param create whether the table or bucket is created if it is missing
   * @param s3 where claims are on S3; empty for another backend
   */
  public record Claiming(
      Backend backend, ClaimSettings store, String table, boolean create, Optional<S3> s3) {}

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

  /**
   * What is done with a record.
   *
   * @param type {@code log}, {@code http}, {@code topic}, {@code dataset} or the name of a handler
   *     bean
   * @param httpUrl where the {@code http} handler posts to
   * @param httpTimeout how long it waits for an answer
   * @param topicName where the {@code topic} handler publishes
   * @param dataset where the {@code dataset} handler stores; empty for another handler
   */
  public record Handling(
      String type,
      Optional<URI> httpUrl,
      Duration httpTimeout,
      Optional<String> topicName,
      Optional<DatasetSettings> dataset) {}
}
