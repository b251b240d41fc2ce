package io.firstclaim.processor.service.config;

import io.firstclaim.lock.s3.ProtectedPrefix;
import io.firstclaim.processor.dataset.DatasetSettings;
import java.time.Duration;
import java.util.List;

/** Where claims are kept. */
public sealed interface Backend {
  /**
   * In a DynamoDB table.
   *
   * @param batch conditional writes in one request at most; 1: each in its own
   * @param sweep how often claims past their retention are deleted; zero means never
   * @param create whether it is created if it is missing
   */
  record DynamoDb(String table, int batch, Duration sweep, boolean create) implements Backend {
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
   * @param alsoProtected what else its policy protects, if it is created: a dataset in the same
   *     bucket
   */
  record S3(
      String bucket,
      String prefix,
      Duration sweep,
      boolean create,
      List<ProtectedPrefix> alsoProtected)
      implements Backend {
    /** A bucket that has nothing in it but claims. */
    S3(String bucket, String prefix, Duration sweep, boolean create) {
      this(bucket, prefix, sweep, create, List.of());
    }

    private S3 with(DatasetSettings dataset) {
      return new S3(bucket, prefix, sweep, create, dataset.protectedPrefixes());
    }

    @Override
    public String toString() {
      return "S3 bucket %s, prefix %s".formatted(bucket, prefix);
    }
  }

  /** This backend for a service with this handler. */
  default Backend beside(Handling handling) {
    return isMadeFor(handling)
            && this instanceof S3 claims
            && handling instanceof Handling.Dataset(DatasetSettings dataset)
        ? claims.with(dataset)
        : this;
  }

  /** Whether the bucket of this handler's dataset is made with the claims' own. */
  default boolean isMadeFor(Handling handling) {
    return this instanceof S3 claims
        && claims.create()
        && handling instanceof Handling.Dataset(DatasetSettings dataset)
        && dataset.bucket().equals(claims.bucket());
  }

  /** In this process. */
  record Memory() implements Backend {
    @Override
    public String toString() {
      return "memory";
    }
  }
}
