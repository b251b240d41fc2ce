package io.firstclaim.micronaut.jobs;

import io.firstclaim.micronaut.Deduplicated;
import io.micronaut.aop.InterceptorBean;
import io.micronaut.aop.MethodInterceptor;
import io.micronaut.aop.MethodInvocationContext;
import io.micronaut.core.order.Ordered;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;
import org.jspecify.annotations.Nullable;

/** Around a job: hands each call of its scheduler to {@link DueJob}. Thread-safe. */
@Singleton
@InterceptorBean(Deduplicated.class)
final class DeduplicatedJobInterceptor implements MethodInterceptor<Object, Object> {
  private final Jobs jobs;

  DeduplicatedJobInterceptor(Jobs jobs) {
    this.jobs = jobs;
  }

  @Override
  public int getOrder() {
    return Ordered.HIGHEST_PRECEDENCE;
  }

  @Override
  public @Nullable Object intercept(MethodInvocationContext<Object, Object> call) {
    if (!call.hasStereotype(Scheduled.class)) {
      return call.proceed(); // a listener, and no job: another advice is around it
    }
    jobs.of(call.getExecutableMethod())
        .run(
            lease -> {
              var unused = call.proceed(this);
              return null;
            });
    return null;
  }
}
