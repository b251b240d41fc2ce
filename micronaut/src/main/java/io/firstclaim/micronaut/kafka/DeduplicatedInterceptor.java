package io.firstclaim.micronaut.kafka;

import io.firstclaim.micronaut.Deduplicated;
import io.micronaut.aop.InterceptorBean;
import io.micronaut.aop.MethodInterceptor;
import io.micronaut.aop.MethodInvocationContext;
import io.micronaut.configuration.kafka.annotation.KafkaListener;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.order.Ordered;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Around a listener: claims the ID of the record that it is called for, calls it under the lease,
 * and returns only if the record's offset may move. Otherwise it throws, and Micronaut seeks back.
 * Around all advice of others, since one that swallows exceptions would move the offset.
 * Thread-safe.
 */
@Singleton
@InterceptorBean(Deduplicated.class)
@Requires(classes = KafkaListener.class)
final class DeduplicatedInterceptor implements MethodInterceptor<Object, Object> {
  private volatile @Nullable DeduplicatedListeners listeners;

  /**
   * Gives it the listeners that it is for. It does not ask the context for them, which would make
   * them anew, with a deduplicator that is open, for a record that comes during a stop.
   */
  void advise(DeduplicatedListeners made) {
    listeners = made;
  }

  @Override
  public int getOrder() {
    return Ordered.HIGHEST_PRECEDENCE;
  }

  @Override
  public @Nullable Object intercept(MethodInvocationContext<Object, Object> call) {
    if (call.hasStereotype(Scheduled.class)) {
      return call.proceed(); // a job, and no listener: another advice is around it
    }
    ConsumerRecord<?, ?> record = DeliveredRecord.take();
    if (record == null) {
      throw new IllegalStateException(
          "%s is called by something else than its consumer, so nothing says which record it is"
                  .formatted(call.getExecutableMethod())
              + " for: call a method that is not @Deduplicated, or Deduplicator.run");
    }
    DeduplicatedListeners made = listeners;
    if (made == null) {
      throw new IllegalStateException(
          "%s is called before its application has started, and again once it has"
              .formatted(call.getExecutableMethod()));
    }
    try {
      made.of(call.getExecutableMethod()).process(record, call::proceed);
      return null;
    } finally {
      // The deduplicator's own, as it closes. It would have the consumer fail, which is asked next.
      boolean unused = Thread.interrupted();
    }
  }
}
