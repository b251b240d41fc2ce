package io.firstclaim.micronaut.jobs;

import io.firstclaim.lock.keeper.Worker;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.micronaut.Deduplicated;
import io.firstclaim.micronaut.Exclusive;
import io.firstclaim.micronaut.config.AdvisedMethod;
import io.micronaut.aop.InterceptorBean;
import io.micronaut.aop.MethodInterceptor;
import io.micronaut.aop.MethodInvocationContext;
import io.micronaut.core.order.Ordered;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Around a job: runs it under its mutex, or not at all where others hold that. If the mutex is lost
 * meanwhile, the job is interrupted. Thread-safe.
 */
@Singleton
@InterceptorBean(Exclusive.class)
final class ExclusiveInterceptor implements MethodInterceptor<Object, Object> {
  private static final Logger LOG = LoggerFactory.getLogger(ExclusiveInterceptor.class);

  private final Jobs jobs;

  ExclusiveInterceptor(Jobs jobs) {
    this.jobs = jobs;
  }

  /** Inside the claim of a fire time, outside of all else. */
  @Override
  public int getOrder() {
    return Ordered.HIGHEST_PRECEDENCE + 1;
  }

  @Override
  public @Nullable Object intercept(MethodInvocationContext<Object, Object> call) {
    AdvisedMethod job = AdvisedMethod.of(call.getExecutableMethod());
    String name = call.stringValue(Exclusive.class, "name").orElseThrow();
    boolean isOnce = call.hasAnnotation(Deduplicated.class);
    try {
      Optional<HeldMutex> acquired =
          jobs.mutex(name).acquire(isOnce ? jobs.timeout() : Duration.ZERO);
      if (acquired.isPresent()) {
        run(call, job, acquired.get());
      } else if (isOnce) {
        throw new IllegalStateException("its mutex was not free within " + jobs.timeout());
      } else {
        LOG.debug("{} is not run: another has its mutex", job);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted as it waited for its mutex", e);
    }
    return null;
  }

  private static void run(
      MethodInvocationContext<Object, Object> call, AdvisedMethod job, HeldMutex acquired) {
    Worker worker = new Worker();
    try (HeldMutex held = acquired) {
      held.whenLost(worker::interrupt);
      worker.begin();
      try {
        var unused = call.proceed();
      } catch (Exception e) { // such as the interrupt at a loss, which is no order to stop
        if (held.isHeld()) {
          throw e;
        }
        throw new IllegalStateException("its mutex was lost as it ran", e);
      } finally {
        boolean unused = worker.end();
        if (!held.isHeld()) {
          LOG.warn("{} ran on without its mutex, and another instance may have run it", job);
        }
      }
    }
  }
}
