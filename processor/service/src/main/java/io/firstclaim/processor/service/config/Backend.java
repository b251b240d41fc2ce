package io.firstclaim.processor.service.config;

import java.time.Duration;

/** Where claims are kept. */
public sealed interface Backend {
  /**
   * In a DynamoDB table.
   *
   * @param batch conditional writes in one request at most; 1: each in its own
   * @param create whether it is created if it is missing
   */
  record DynamoDb(String table, int batch, boolean create) implements Backend {
    @Override
    public String toString() {
      return "DynamoDB table " + table;
    }
  }

  /**
   * In an S3 bucket.
   *
   * @param prefix that all claims, and nothing else, are under
   * @param sweep how often claims past their retention are deleted; zero means never
   * @param create whether the bucket is created if it is missing
   */
  record S3(String bucket, String prefix, Duration sweep, boolean create) implements Backend {
    @Override
    public String toString() {
      return "S3 bucket %s, prefix %s".formatted(bucket, prefix);
    }
  }

  /** In this process. */
  record Memory() implements Backend {
    @Override
    public String toString() {
      return "memory";
    }
  }
}
