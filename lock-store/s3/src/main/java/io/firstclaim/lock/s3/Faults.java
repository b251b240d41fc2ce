package io.firstclaim.lock.s3;

import java.util.concurrent.CancellationException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;

/** Faults of the SDK in words. */
final class Faults {
  private Faults() {}

  /** S3's name of an error; empty where the answer had none. */
  static String code(AwsServiceException fault) {
    String code = fault.awsErrorDetails() == null ? null : fault.awsErrorDetails().errorCode();
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
                    service.statusCode(), code(service), service.awsErrorDetails().errorMessage())
            : String.valueOf(fault.getMessage());
    return message.replaceAll("\\p{Cntrl}+", " ");
  }
}
