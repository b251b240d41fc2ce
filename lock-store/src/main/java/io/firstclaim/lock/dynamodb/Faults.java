package io.firstclaim.lock.dynamodb;

import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** Faults of the SDK in words. */
final class Faults {
  private Faults() {}

  /** What went wrong, without line breaks, request IDs or stack. */
  static String inOneLine(SdkException fault) {
    String message =
        fault instanceof AwsServiceException service && service.awsErrorDetails() != null
            ? "%d %s %s"
                .formatted(
                    service.statusCode(),
                    service.awsErrorDetails().errorCode(),
                    service.awsErrorDetails().errorMessage())
            : String.valueOf(fault.getMessage());
    return message.replaceAll("\\p{Cntrl}+", " ");
  }
}
