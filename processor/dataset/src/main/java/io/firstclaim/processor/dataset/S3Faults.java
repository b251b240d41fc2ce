package io.firstclaim.processor.dataset;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.aws.Faults;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** What the SDK throws for a dataset's bucket, as what the dataset throws. Immutable. */
final class S3Faults {
  private final String bucket;

  S3Faults(String bucket) {
    this.bucket = bucket;
  }

  /**
   * What to throw for a fault.
   *
   * @param what was asked for, such as {@code object x}
   */
  RuntimeException of(String what, RuntimeException fault) {
    // Another 404 may be a gateway's, or that of an upload that was aborted.
    return status(fault) == 403 || isMissingBucket(fault)
        ? new StoreRefusedException(
            ("S3 bucket %s refuses %s: %s. The bucket must be there, and the role needs"
                    + " s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload in"
                    + " it, and s3:ListBucket and s3:ListBucketMultipartUploads on it")
                .formatted(bucket, what, inOneLine(fault)))
        : new StoreUnavailableException(
            "S3 bucket %s did not answer for %s: %s".formatted(bucket, what, inOneLine(fault)),
            fault);
  }

  /** Throws what an interrupt looks like to the SDK as what it is. */
  static void requireNoInterrupt(RuntimeException fault) throws InterruptedException {
    if (fault instanceof AbortedException) {
      Thread.interrupted(); // the SDK sets it again; the exception below carries it
      throw (InterruptedException) new InterruptedException("while asking S3").initCause(fault);
    }
  }

  private static boolean isMissingBucket(RuntimeException fault) {
    return fault instanceof S3Exception answered
        && answered.awsErrorDetails() != null
        && "NoSuchBucket".equals(answered.awsErrorDetails().errorCode());
  }

  /** The answer that the bucket is there and the object is not; a gateway's 404 says neither. */
  static boolean isMissingKey(RuntimeException fault) {
    return status(fault) == 404 && Faults.code(fault).equals("NoSuchKey");
  }

  /** The status of S3's answer; 0 if there was none. */
  static int status(RuntimeException fault) {
    return fault instanceof S3Exception answered ? answered.statusCode() : 0;
  }

  static String inOneLine(RuntimeException fault) {
    String message =
        fault instanceof S3Exception answered && answered.awsErrorDetails() != null
            ? "%d %s".formatted(answered.statusCode(), answered.awsErrorDetails().errorCode())
            : String.valueOf(fault.getMessage());
    return OneLine.of(message);
  }
}
