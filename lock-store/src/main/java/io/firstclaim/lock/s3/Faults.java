package io.firstclaim.lock.s3;

import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** Faults of the SDK in words. */
final class Faults {
  private Faults() {}

  /** S3's name of an error; empty where the answer had none. */
  static String code(AwsServiceException fault) {
    String code = fault.awsErrorDetails() == null ? null : fault.awsErrorDetails().errorCode();
    return code == null ? "" : code;
  }

  /** What went wrong, without line breaks, request IDs or stack. */
  static String inOneLine(SdkException fault) {
    String message =
        fault instanceof AwsServiceException service && service.awsErrorDetails() != null
            ? "%d %s %s"
                .formatted(
                    service.statusCode(), code(service), service.awsErrorDetails().errorMessage())
            : String.valueOf(fault.getMessage());
    return message.replaceAll("\\p{Cntrl}+", " ");
  }
}
