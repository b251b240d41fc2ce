package io.firstclaim.spring.kafka;

import io.firstclaim.listener.DeduplicatedRecords;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Around a container's listener: claims each record's ID, calls the listener under the lease, and
 * returns only if the record's offset may move. Otherwise it throws, and the {@link
 * KeepingErrorHandler} keeps the record. Thread-safe.
 */
final class DeduplicatingAdvice implements MethodInterceptor {
  private final DeduplicatedRecords records;

  /** An advice on one container, by these records of its listener. */
  DeduplicatingAdvice(DeduplicatedRecords records) {
    this.records = records;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation call) throws Throwable {
    if (!(call.getArguments().length > 0
        && call.getMethod().getName().equals("onMessage")
        && call.getArguments()[0] instanceof ConsumerRecord<?, ?> record)) {
      return call.proceed();
    }
    HeldBackAcknowledgment acknowledgment = heldBack(call.getArguments());
    if (records.process(record, () -> proceed(call))) {
      acknowledgment.done();
    } else {
      acknowledgment.doneWithoutListener();
    }
    return null;
  }

  private static void proceed(MethodInvocation call) throws Throwable {
    try {
      var unused = call.proceed();
    } catch (ListenerExecutionFailedException e) {
      // Spring's own says nothing of what the listener threw, and letters tell only that.
      throw e.getCause() instanceof Exception own ? own : e;
    }
  }

  /** Where the listener is given an acknowledgement, it is given ours. */
  private static HeldBackAcknowledgment heldBack(@Nullable Object[] arguments) {
    for (int i = 1; i < arguments.length; i++) {
      if (arguments[i] instanceof Acknowledgment given) {
        HeldBackAcknowledgment ours = new HeldBackAcknowledgment(given);
        arguments[i] = ours;
        return ours;
      }
    }
    return new HeldBackAcknowledgment(null);
  }
}
