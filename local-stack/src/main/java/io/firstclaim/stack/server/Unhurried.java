package io.firstclaim.stack.server;

import java.time.Duration;
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

  private final Duration ofOneTry;

  private Unhurried(Duration ofOneTry) {
    this.ofOneTry = ofOneTry;
  }

  /** For a server whose answers all come. */
  public Unhurried() {
    this(LONG);
  }

  /** For one whose answers may be lost: a try waits eight seconds for one. */
  public static Unhurried whereAnswersAreLost() {
    return new Unhurried(LOST);
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
            .apiCallAttemptTimeout(ofOneTry)
            .build();
    return request.toBuilder().overrideConfiguration(unhurried).build();
  }
}
