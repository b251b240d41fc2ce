package io.firstclaim.stack.server;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import software.amazon.awssdk.awscore.AwsRequest;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * Gives each request the time that it takes, whatever its limits: for tests that are not about
 * those, which would wait for nothing where a busy machine has made a local server miss one.
 */
public final class Unhurried implements ExecutionInterceptor {
  private static final Duration LONG = Duration.ofMinutes(5);

  /** Of a try whose answer is lost: a busy machine may keep a local server for seconds from one. */
  private static final Duration LOST = Duration.ofSeconds(8);

  private final BooleanSupplier losesAnswers;

  private Unhurried(BooleanSupplier losesAnswers) {
    this.losesAnswers = losesAnswers;
  }

  /** For a server whose answers all come. */
  public Unhurried() {
    this(() -> false);
  }

  /**
   * For one whose answers may be lost: where that is so as a request begins, each of its tries
   * waits eight seconds for an answer.
   */
  public static Unhurried where(BooleanSupplier losesAnswers) {
    return new Unhurried(losesAnswers);
  }

  @Override
  public SdkRequest modifyRequest(Context.ModifyRequest context, ExecutionAttributes of) {
    AwsRequest request = (AwsRequest) context.request();
    AwsRequestOverrideConfiguration unhurried =
        request
            .overrideConfiguration()
            .map(AwsRequestOverrideConfiguration::toBuilder)
            .orElseGet(AwsRequestOverrideConfiguration::builder)
            .apiCallTimeout(LONG)
            .apiCallAttemptTimeout(losesAnswers.getAsBoolean() ? LOST : LONG)
            .build();
    return request.toBuilder().overrideConfiguration(unhurried).build();
  }
}
