package io.firstclaim.lock.aws;

import io.firstclaim.lock.OneLine;
import java.util.concurrent.CancellationException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** Faults of the SDK, told apart and in words. */
public final class Faults {
  private Faults() {}

  /** The service's name of an error; empty where there was no answer, or none with a name. */
  public static String code(Throwable fault) {
    String code =
        fault instanceof AwsServiceException service && service.awsErrorDetails() != null
            ? service.awsErrorDetails().errorCode()
            : null;
    return code == null ? "" : code;
  }

  /** Whether the request was sent no more than once, so that the answer is to that. */
  public static boolean wasSentOnce(RuntimeException fault) {
    return fault instanceof SdkException known
        && known.numAttempts() != null
        && known.numAttempts() == 1;
  }

  /**
   * What went wrong, without line breaks, request IDs or stack.
   *
   * @param fault the SDK's, or its HTTP client's {@link CancellationException}, which comes through
   *     where a time limit strikes a request that waits for a connection
   */
  public static String inOneLine(RuntimeException fault) {
    if (fault instanceof CancellationException) {
      return "no connection was free within the time limit";
    }
    return fault instanceof AwsServiceException service && service.awsErrorDetails() != null
        ? OneLine.of(
            "%d %s %s"
                .formatted(
                    service.statusCode(), code(service), service.awsErrorDetails().errorMessage()))
        : OneLine.of(fault);
  }
}
