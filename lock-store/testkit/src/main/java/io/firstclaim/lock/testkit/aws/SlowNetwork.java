package io.firstclaim.lock.testkit.aws;

import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/** A network on which the test's time passes while an answer is on its way. */
public final class SlowNetwork implements ExecutionInterceptor {
  private final ManualTime time;
  private final Duration delay;

  /** A network on which an answer takes this long. */
  public SlowNetwork(ManualTime time, Duration delay) {
    this.time = time;
    this.delay = delay;
  }

  @Override
  public void afterTransmission(Context.AfterTransmission context, ExecutionAttributes attributes) {
    time.advance(delay);
  }
}
