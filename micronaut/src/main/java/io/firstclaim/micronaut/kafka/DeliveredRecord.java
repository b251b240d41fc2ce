package io.firstclaim.micronaut.kafka;

import io.micronaut.configuration.kafka.bind.ConsumerRecordBinderRegistry;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.core.bind.ArgumentBinder;
import io.micronaut.core.convert.ArgumentConversionContext;
import io.micronaut.core.convert.ConversionService;
import io.micronaut.core.type.Argument;
import jakarta.inject.Singleton;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Tells an advice, which sees a listener's arguments alone, which record they are of: the one that
 * was last bound on this thread.
 */
@Singleton
@Requires(classes = ConsumerRecordBinderRegistry.class)
final class DeliveredRecord implements BeanCreatedEventListener<ConsumerRecordBinderRegistry> {
  private static final ThreadLocal<@Nullable ConsumerRecord<?, ?>> BOUND = new ThreadLocal<>();

  /** The record that this thread is to call a listener with; null if it is a call of others. */
  static @Nullable ConsumerRecord<?, ?> take() {
    ConsumerRecord<?, ?> record = BOUND.get();
    BOUND.remove();
    return record;
  }

  @Override
  public ConsumerRecordBinderRegistry onCreated(
      BeanCreatedEvent<ConsumerRecordBinderRegistry> event) {
    return new Noting(event.getBean());
  }

  private static final class Noting extends ConsumerRecordBinderRegistry {
    private final ConsumerRecordBinderRegistry binders;

    Noting(ConsumerRecordBinderRegistry binders) {
      super(ConversionService.SHARED);
      this.binders = binders;
    }

    @Override
    public <T> Optional<ArgumentBinder<T, ConsumerRecord<?, ?>>> findArgumentBinder(
        Argument<T> argument) {
      return binders.<T>findArgumentBinder(argument).map(NotingBinder::new);
    }
  }

  private record NotingBinder<T>(ArgumentBinder<T, ConsumerRecord<?, ?>> binder)
      implements ArgumentBinder<T, ConsumerRecord<?, ?>> {
    @Override
    public BindingResult<T> bind(
        ArgumentConversionContext<T> context, ConsumerRecord<?, ?> record) {
      BOUND.set(record);
      return binder.bind(context, record);
    }
  }
}
