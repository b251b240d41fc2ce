package io.firstclaim.micronaut.kafka;

import io.firstclaim.listener.DeduplicatedRecords;
import io.firstclaim.listener.Deduplication;
import io.firstclaim.listener.RecordIds;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.micronaut.Deduplicated;
import io.firstclaim.micronaut.config.AdvisedMethod;
import io.micronaut.configuration.kafka.annotation.ErrorStrategy;
import io.micronaut.configuration.kafka.annotation.ErrorStrategyValue;
import io.micronaut.configuration.kafka.annotation.KafkaListener;
import io.micronaut.configuration.kafka.annotation.OffsetReset;
import io.micronaut.configuration.kafka.annotation.OffsetStrategy;
import io.micronaut.configuration.kafka.annotation.Topic;
import io.micronaut.configuration.kafka.config.AbstractKafkaConsumerConfiguration;
import io.micronaut.configuration.kafka.config.KafkaDefaultConfiguration;
import io.micronaut.configuration.kafka.seek.KafkaSeekOperations;
import io.micronaut.context.BeanContext;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.annotation.AnnotationValue;
import io.micronaut.core.naming.NameUtils;
import io.micronaut.core.type.Argument;
import io.micronaut.inject.BeanDefinition;
import io.micronaut.inject.ExecutableMethod;
import io.micronaut.inject.qualifiers.Qualifiers;
import io.micronaut.messaging.Acknowledgement;
import io.micronaut.runtime.ApplicationConfiguration;
import io.micronaut.scheduling.annotation.Scheduled;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;

/**
 * The deduplicated listeners of the application. Made before the first consumer, it refuses what
 * would lose records or not deduplicate them. Thread-safe.
 */
@Context
@Requires(beans = KafkaDefaultConfiguration.class)
final class DeduplicatedListeners {
  private static final String SEND_TO = "io.micronaut.messaging.annotation.SendTo";
  private static final String ASYNC = "io.micronaut.scheduling.annotation.Async";

  /** How long a deduplicator asks a store for a claim that does not answer. */
  private static final Duration STORE_PATIENCE = Duration.ofSeconds(10);

  private final BeanContext context;
  private final ClaimSettings claims;
  private final Optional<String> application;
  private final Deduplication deduplication;
  private final Map<AdvisedMethod, KeptRecords> listeners = new HashMap<>();
  private final Map<String, AdvisedMethod> byName = new HashMap<>();

  DeduplicatedListeners(
      BeanContext context,
      ClaimSettings claims,
      ApplicationConfiguration application,
      Deduplication deduplication,
      DeduplicatedInterceptor advice) {
    this.context = context;
    this.claims = claims;
    this.application = application.getName();
    this.deduplication = deduplication;
    for (BeanDefinition<?> bean : context.getAllBeanDefinitions()) {
      for (ExecutableMethod<?, ?> method : bean.getExecutableMethods()) {
        if (method.hasAnnotation(Deduplicated.class) && !method.hasStereotype(Scheduled.class)) {
          found(bean, method);
        }
      }
    }
    advice.advise(this);
  }

  /** The records of this listener. */
  KeptRecords of(ExecutableMethod<?, ?> method) {
    KeptRecords records = listeners.get(AdvisedMethod.of(method));
    if (records == null) {
      throw new IllegalStateException(
          "%s is deduplicated by nothing: its bean was not there when the application started"
              .formatted(AdvisedMethod.of(method)));
    }
    return records;
  }

  private void found(BeanDefinition<?> bean, ExecutableMethod<?, ?> method) {
    AdvisedMethod key = AdvisedMethod.of(method);
    AnnotationValue<KafkaListener> listener = method.getAnnotation(KafkaListener.class);
    if (listener == null
        || (method.getDeclaredAnnotationValuesByType(Topic.class).isEmpty()
            && bean.getDeclaredAnnotationValuesByType(Topic.class).isEmpty())) {
      throw key.refused(
          "Deduplicated",
          "the method is no @Topic of a @KafkaListener, so nothing deduplicates its calls",
          "put it on a listener, or call Deduplicator.run in the method");
    }
    String name = method.stringValue(Deduplicated.class, "name").orElse("");
    RecordIds ids;
    try {
      ids = new RecordIds(name, method.stringValue(Deduplicated.class, "id").orElse(""));
    } catch (IllegalArgumentException e) {
      throw key.refused("Deduplicated", String.valueOf(e.getMessage()), "mend the annotation");
    }
    AdvisedMethod other = byName.putIfAbsent(name, key);
    require(
        other == null || other.equals(key),
        key,
        "its name '%s' is that of %s, and each would skip what the other has done"
            .formatted(name, other),
        "give each a name of its own");
    requireReturnsWhenDone(key, method);
    requireKeeps(key, listener);
    requireHandsOverNoOffsets(key, method);
    Map<String, Object> consuming = consuming(bean, listener);
    requireKeeps(key, consuming);
    listeners.put(
        key,
        new KeptRecords(
            new DeduplicatedRecords(ids, deduplication, consuming), deduplication.time()));
  }

  private static void requireReturnsWhenDone(AdvisedMethod key, ExecutableMethod<?, ?> method) {
    require(
        !method.getReturnType().isAsyncOrReactive()
            && !method.isSuspend()
            && !method.hasStereotype(ASYNC),
        key,
        "it returns before its work ends",
        "let it return void, and wait for its work in it");
    require(
        !method.hasStereotype(SEND_TO),
        key,
        "what @SendTo sends is sent after the record counts as done, so it could be lost",
        "send it in the listener, and wait until it is acknowledged");
    require(
        method.getReturnType().isVoid(),
        key,
        "it returns something, and a record that was done before has none of it",
        "let it return void");
  }

  /** Refuses what skips a record that is not done. */
  private static void requireKeeps(AdvisedMethod key, AnnotationValue<KafkaListener> listener) {
    require(
        !listener.isTrue("batch"),
        key,
        "it is called with batches, of which one record may be done and another not",
        "have it called with single records: batch = false");
    require(
        listener.enumValue("offsetStrategy", OffsetStrategy.class).orElse(OffsetStrategy.AUTO)
            == OffsetStrategy.SYNC_PER_RECORD,
        key,
        "its offsets move whatever became of the records, or in a producer's transaction",
        "give @KafkaListener offsetStrategy = OffsetStrategy.SYNC_PER_RECORD");
    Optional<AnnotationValue<ErrorStrategy>> errors =
        listener.getAnnotation("errorStrategy", ErrorStrategy.class);
    require(
        errors
                .flatMap(each -> each.enumValue(ErrorStrategyValue.class))
                .filter(each -> each == ErrorStrategyValue.RETRY_ON_ERROR)
                .isPresent()
            && errors.orElseThrow().intValue("retryCount").orElse(1) == Integer.MAX_VALUE
            && errors.orElseThrow().classValues("exceptionTypes").length == 0,
        key,
        "its error strategy skips a record after some tries, or grows its pause without end",
        "give @KafkaListener errorStrategy = @ErrorStrategy(value ="
            + " ErrorStrategyValue.RETRY_ON_ERROR, retryCount = Integer.MAX_VALUE);"
            + " firstclaim.retry.* says how often a listener is tried, then its record goes to"
            + " firstclaim.dead-letter.topic");
    require(
        !errors.orElseThrow().isTrue("handleAllExceptions"),
        key,
        "each time that a record is kept would be told to an exception handler, which may move its"
            + " offset",
        "let handleAllExceptions be false");
    require(
        !listener.isTrue("redelivery"),
        key,
        "redelivery moves the offset of a record that failed",
        "let it be false");
  }

  private static void requireHandsOverNoOffsets(AdvisedMethod key, ExecutableMethod<?, ?> method) {
    require(
        method.getArguments().length > 0,
        key,
        "it has no argument that is of the record",
        "give it one, such as the record's value");
    for (Argument<?> argument : method.getArguments()) {
      require(
          !Acknowledgement.class.isAssignableFrom(argument.getType())
              && !Consumer.class.isAssignableFrom(argument.getType())
              && !KafkaSeekOperations.class.isAssignableFrom(argument.getType()),
          key,
          "its argument '%s' lets it move offsets by itself".formatted(argument.getName()),
          "take it away: a record is acknowledged once it is recorded as done");
    }
  }

  private void requireKeeps(AdvisedMethod key, Map<String, Object> consuming) {
    require(
        List.of("earliest", "none")
            .contains(text(consuming, ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest")),
        key,
        "a group without offsets begins at the end, past what came before",
        "give @KafkaListener offsetReset = OffsetReset.EARLIEST");
    require(
        !Boolean.parseBoolean(text(consuming, ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false")),
        key,
        "enable.auto.commit is true, which moves offsets whatever became of the records",
        "leave it away");
    require(
        text(consuming, ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "500").equals("1"),
        key,
        "a commit that fails would have the rest of its poll skipped",
        "give @KafkaListener properties = @Property(name = \"max.poll.records\", value = \"1\")");
    Duration maxPollInterval =
        Duration.ofMillis(
            Long.parseLong(text(consuming, ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, "300000")));
    Duration least = claims.lease().plus(claims.maxSkew()).plus(STORE_PATIENCE);
    require(
        maxPollInterval.compareTo(least) >= 0,
        key,
        "max.poll.interval.ms is %d, and waiting for the store may take longer"
            .formatted(maxPollInterval.toMillis()),
        "give %d or more, or a shorter firstclaim.claim.lease".formatted(least.toMillis()));
  }

  private static String text(Map<String, Object> settings, String name, String otherwise) {
    return String.valueOf(settings.getOrDefault(name, otherwise)).strip();
  }

  /** The settings of its consumers, put together as Micronaut does. */
  private Map<String, Object> consuming(
      BeanDefinition<?> bean, AnnotationValue<KafkaListener> listener) {
    String group =
        listener
            .stringValue("groupId")
            .filter(given -> !given.isEmpty())
            .or(() -> application)
            .orElseGet(() -> bean.getBeanType().getName());
    Map<String, Object> settings = new HashMap<>();
    Properties configured = configuration(group).getConfig();
    configured.stringPropertyNames().forEach(key -> settings.put(key, configured.getProperty(key)));
    if (listener.enumValue("offsetReset", OffsetReset.class).orElse(OffsetReset.LATEST)
        == OffsetReset.EARLIEST) {
      var unused = settings.putIfAbsent(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    }
    listener
        .getProperties("properties", "name")
        .forEach((key, value) -> settings.put(key.toString(), value));
    return settings;
  }

  private AbstractKafkaConsumerConfiguration<?, ?> configuration(String group) {
    return named(group)
        .or(
            () ->
                NameUtils.isValidHyphenatedPropertyName(group)
                    ? Optional.empty()
                    : named(NameUtils.hyphenate(group)))
        .orElseGet(() -> context.getBean(AbstractKafkaConsumerConfiguration.class));
  }

  // Micronaut's own beans are found by the raw type only.
  @SuppressWarnings({"rawtypes", "unchecked"})
  private Optional<AbstractKafkaConsumerConfiguration<?, ?>> named(String name) {
    return (Optional)
        context.findBean(AbstractKafkaConsumerConfiguration.class, Qualifiers.byName(name));
  }

  private static void require(boolean holds, AdvisedMethod key, String fault, String remedy) {
    key.require(holds, "Deduplicated", fault, remedy);
  }
}
