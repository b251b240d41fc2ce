package io.firstclaim.processor.dataset;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.s3.ProtectedPrefix;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Where a dataset is and how it is written.
 *
 * @param bucket the S3 bucket
 * @param prefix of all its objects; empty, or ends in a slash
 * @param partSize in bytes, 5 MiB at least; larger values are uploaded in parts of this size
 * @param registryInterval between two updates of the registry by one instance, during which the
 *     next files gather, unless they become many; a file that comes after a pause does not wait
 */
public record DatasetSettings(
    String bucket, String prefix, int partSize, Duration registryInterval) {
  private static final Pattern PREFIX = Pattern.compile("([^/]+/)*");

  /**
   * Settings of a dataset.
   *
   * @throws IllegalArgumentException if the prefix is none
   */
  public DatasetSettings {
    if (!PREFIX.matcher(prefix).matches()) {
      throw new IllegalArgumentException(
          "prefix \"%s\" of a dataset in S3 bucket %s: give none, or parts that end in /, such as lake/"
              .formatted(OneLine.of(prefix), bucket));
    }
  }

  /** What others must neither write nor delete without a condition: all of it. */
  public List<ProtectedPrefix> protectedPrefixes() {
    return List.of(
        ProtectedPrefix.once(prefix + DatasetFile.FOLDER),
        ProtectedPrefix.once(prefix + Manifests.FOLDER),
        ProtectedPrefix.onCondition(prefix + "metastore/"));
  }
}
