package io.firstclaim.lock.aws;

import io.firstclaim.lock.OneLine;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** The SDK's faults, told apart and put into words. */
public final class Faults {
  private Faults() {}

  /** The service's name for an error; empty if there was no answer, or it named none. */
  public static String code(Throwable fault) {
    String code =
        fault instanceof AwsServiceException service && service.awsErrorDetails() != null
            ? service.awsErrorDetails().errorCode()
            : null;
    return code == null ? "" : code;
  }

  /** Whether the request was sent only once, so that the answer is surely to that one. */
  public static boolean wasSentOnce(RuntimeException fault) {
    return fault instanceof SdkException known
        && known.numAttempts() != null
        && known.numAttempts() == 1;
  }

  /** What went wrong, without line breaks, request IDs or a stack. */
  public static String inOneLine(RuntimeException fault) {
    return fault instanceof AwsServiceException service && service.awsErrorDetails() != null
        ? OneLine.of(
            "%d %s %s"
                .formatted(
                    service.statusCode(), code(service), service.awsErrorDetails().errorMessage()))
        : OneLine.of(fault);
  }
}
