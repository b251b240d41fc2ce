package io.firstclaim.lock.dynamodb;

import java.util.concurrent.CancellationException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** Faults of the SDK in words. */
final class Faults {
  private Faults() {}

  /** DynamoDB's name of an error; empty where there was no answer. */
  static String code(SdkException fault) {
    String code =
        fault instanceof AwsServiceException service && service.awsErrorDetails() != null
            ? service.awsErrorDetails().errorCode()
            : null;
    return code == null ? "" : code;
  }

  /**
   * What went wrong, without line breaks, request IDs or stack.
   *
   * @param fault the SDK's, or its HTTP client's {@link CancellationException}, which comes through
   *     where a time limit strikes a request that waits for a connection
   */
  static String inOneLine(RuntimeException fault) {
    if (fault instanceof CancellationException) {
      return "no connection was free within the time limit";
    }
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
