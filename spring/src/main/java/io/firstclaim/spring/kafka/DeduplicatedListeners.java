package io.firstclaim.spring.kafka;

import io.firstclaim.listener.DeduplicatedRecords;
import io.firstclaim.listener.Deduplication;
import io.firstclaim.listener.RecordIds;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.spring.Deduplicated;
import io.firstclaim.spring.autoconfigure.EarlyReturn;
import io.firstclaim.spring.autoconfigure.StartRefusedException;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.AbstractKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpoint;
import org.springframework.kafka.config.MethodKafkaListenerEndpoint;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DelegatingMessageListener;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.adapter.AsyncRepliesAware;
import org.springframework.messaging.handler.annotation.SendTo;

/**
 * Puts the {@link DeduplicatingAdvice} on the containers of deduplicated listeners, and refuses
 * what would lose records or not deduplicate them. Thread-safe.
 */
final class DeduplicatedListeners {
  private static final Logger LOG = LoggerFactory.getLogger(DeduplicatedListeners.class);

  /** How long a deduplicator asks a store for a claim that does not answer. */
  private static final Duration STORE_PATIENCE = Duration.ofSeconds(10);

  private final Supplier<Deduplication> deduplication;
  private final Supplier<ClaimSettings> claims;
  private final Map<String, Named> byName = new ConcurrentHashMap<>();

  /** The annotated methods and classes that are yet without a container, with their names. */
  private final Map<AnnotatedElement, String> waiting = new ConcurrentHashMap<>();

  /** The containers that were made so far. */
  private final List<Advised> advised = new CopyOnWriteArrayList<>();

  /** A container with the one error handler that it may have. */
  private record Advised(
      AnnotatedElement element,
      AbstractMessageListenerContainer<?, ?> container,
      KeepingErrorHandler handler) {}

  /** A listener of a bean. */
  private record Named(AnnotatedElement element, Object bean) {
    @SuppressWarnings("ReferenceEquality") // two beans may be equal
    boolean isThat(Named other) {
      return bean == other.bean && element.equals(other.element);
    }

    /** What is called: the method, or the handlers of a class. */
    Stream<Method> methods() {
      return element instanceof Method method
          ? Stream.of(method)
          : MethodIntrospector.selectMethods(
              type(), (Method each) -> isPresent(each, KafkaHandler.class))
              .stream();
    }

    Class<?> type() {
      return AopUtils.getTargetClass(bean);
    }

    /** Where annotations of its calls may be. */
    Stream<AnnotatedElement> elements() {
      return Stream.concat(Stream.of(element), methods());
    }
  }

  /** Listeners by these parts, which are asked for when the first listener comes. */
  DeduplicatedListeners(Supplier<Deduplication> deduplication, Supplier<ClaimSettings> claims) {
    this.deduplication = deduplication;
    this.claims = claims;
  }

  /** A bean is there: looks for what is deduplicated in it. */
  void found(Class<?> type) {
    if (of(type) != null) {
      require(
          isPresent(type, KafkaListener.class),
          type,
          "the class has no @KafkaListener",
          "put it on the methods that have one");
      await(type, type.getName());
    }
    MethodIntrospector.selectMethods(
            type, (MethodIntrospector.MetadataLookup<Deduplicated>) DeduplicatedListeners::of)
        .keySet()
        .forEach(method -> foundOn(method, type));
  }

  private void foundOn(Method method, Class<?> type) {
    require(
        !isPresent(method, KafkaHandler.class),
        method,
        "it is on a @KafkaHandler",
        "put it on the class, beside its @KafkaListener, for all its handlers");
    if (!isPresent(method, KafkaListener.class)) {
      return; // it is a job; what is neither is refused elsewhere
    }
    await(method, type.getName() + "." + method.getName());
  }

  /** A bean that is made late, as a lazy one is, is shown here after its container. */
  private void await(AnnotatedElement element, String name) {
    if (advised.stream().noneMatch(each -> each.element.equals(element))) {
      waiting.put(element, name);
    }
  }

  /**
   * All listeners of the start are there: none of them may have been passed over, and none of their
   * containers changed since they were made, as retry topics do.
   */
  void requireAllAdvised() {
    advised.forEach(
        each ->
            require(
                each.handler.equals(each.container.getCommonErrorHandler()),
                each.element,
                "its container's error handler was replaced, as a RetryTopicConfiguration and"
                    + " spring.kafka.retry.topic.enabled do, and what now comes after a failure moves"
                    + " the record's offset",
                "set spring.kafka.retry.topic.enabled=false, exclude its topics from the"
                    + " RetryTopicConfiguration, and set no error handler: firstclaim.retry.* says"
                    + " how often a listener is tried, then its record goes to"
                    + " firstclaim.dead-letter.topic"));
    waiting.forEach(
        (element, name) -> {
          throw refused(
              element,
              "its container does not come from a container factory that is a bean",
              "have @KafkaListener name such a bean");
        });
  }

  /** A container is made for this endpoint, by this factory. */
  void made(
      MessageListenerContainer container,
      KafkaListenerEndpoint endpoint,
      KafkaListenerContainerFactory<?> factory) {
    if (!(endpoint instanceof MethodKafkaListenerEndpoint<?, ?> listener)) {
      return;
    }
    AnnotatedElement element = element(listener);
    Deduplicated deduplicated = element == null ? null : of(element);
    if (element == null || deduplicated == null) {
      return;
    }
    if (!(container instanceof AbstractMessageListenerContainer<?, ?> ofGroup
        && factory instanceof AbstractKafkaListenerContainerFactory<?, ?, ?> consumers)) {
      throw refused(
          element,
          "a share group gives a record up after a few deliveries, whatever became of it",
          "use a consumer group, with a ConcurrentKafkaListenerContainerFactory");
    }
    Named named = new Named(element, listener.getBean());
    Named other = byName.putIfAbsent(deduplicated.name(), named);
    if (other != null && !other.isThat(named)) {
      Object which = other.element.equals(element) ? "the same of another bean" : other.element;
      throw refused(
          element,
          "its name '%s' is that of %s, and each would skip what the other has done"
              .formatted(deduplicated.name(), which),
          "give each a name of its own");
    }
    Map<String, Object> consuming = consuming(ofGroup, consumers);
    requireReturnsWhenDone(named);
    requireKeeps(ofGroup, element, consuming);
    warnOfSkipped(element, consuming);
    advise(ofGroup, element, deduplicated, consuming);
    waiting.remove(element);
  }

  private static @Nullable AnnotatedElement element(MethodKafkaListenerEndpoint<?, ?> listener) {
    Class<?> type = AopUtils.getTargetClass(listener.getBean());
    Method method = listener.getMethod();
    if (method != null) {
      Method specific = AopUtils.getMostSpecificMethod(method, type);
      if (of(specific) != null) {
        return specific;
      }
    }
    return of(type) == null ? null : type;
  }

  private void advise(
      AbstractMessageListenerContainer<?, ?> container,
      AnnotatedElement element,
      Deduplicated deduplicated,
      Map<String, Object> consuming) {
    Duration maxPollInterval = maxPollInterval(consuming);
    Duration least = claims.get().lease().plus(claims.get().maxSkew()).plus(STORE_PATIENCE);
    require(
        maxPollInterval.compareTo(least) >= 0,
        element,
        "max.poll.interval.ms is %d, and waiting for the store may take longer"
            .formatted(maxPollInterval.toMillis()),
        "give %d or more, or a shorter firstclaim.claim.lease".formatted(least.toMillis()));
    RecordIds ids;
    try {
      ids = new RecordIds(deduplicated.name(), deduplicated.id());
    } catch (IllegalArgumentException e) {
      throw refused(element, String.valueOf(e.getMessage()), "mend the annotation");
    }
    advise(
        container.getContainerProperties(),
        new DeduplicatingAdvice(new DeduplicatedRecords(ids, deduplication.get(), consuming)));
    KeepingErrorHandler handler =
        new KeepingErrorHandler(deduplication.get().time(), maxPollInterval);
    container.setCommonErrorHandler(handler);
    advised.add(new Advised(element, container, handler));
  }

  /**
   * Puts this advice around the listener and all advice of the application's own: one that swallows
   * exceptions would have the container skip what is kept.
   *
   * <p>The properties are left without an advice chain. Each of a container's consumers has a copy
   * of them, as it is made, and Spring takes the advice of a chain off the one listener that all of
   * them call, and puts it on again: a record that another consumer has just then would be handled
   * without its claim.
   */
  private static void advise(ContainerProperties properties, DeduplicatingAdvice advice) {
    ProxyFactory proxy = new ProxyFactory(Objects.requireNonNull(properties.getMessageListener()));
    proxy.addAdvice(advice);
    properties.setAdviceChain();
    properties.setMessageListener(proxy.getProxy());
  }

  /** Refuses what lets a call return before all of its work is done, or though it has failed. */
  private static void requireReturnsWhenDone(Named named) {
    require(
        named.methods().noneMatch(method -> EarlyReturn.is(method, named.type())),
        named.element,
        "it returns before its work ends",
        "let it return void, and wait for its work in it");
    require(
        named.elements().noneMatch(each -> isPresent(each, SendTo.class)),
        named.element,
        "what @SendTo sends is sent after the record counts as done, so it could be lost",
        "send it in the listener, and wait until it is acknowledged");
    require(
        named.methods().allMatch(DeduplicatedListeners::returnsNothing),
        named.element,
        "it returns something, and a record that was done before has none of it",
        "let it return void");
    require(
        MergedAnnotations.from(named.element, MergedAnnotations.SearchStrategy.TYPE_HIERARCHY)
            .stream(KafkaListener.class)
            .allMatch(each -> each.getString("errorHandler").isEmpty()),
        named.element,
        "its @KafkaListener has an errorHandler, which may have what failed count as done",
        "take it away: firstclaim.retry.* says how often a listener is tried, then its record goes"
            + " to firstclaim.dead-letter.topic");
  }

  private static boolean returnsNothing(Method method) {
    return method.getReturnType() == void.class || method.getReturnType() == Void.class;
  }

  private static void warnOfSkipped(AnnotatedElement element, Map<String, Object> consuming) {
    Object reset = consuming.getOrDefault(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");
    if (String.valueOf(reset).strip().equalsIgnoreCase("latest")) {
      LOG.warn(
          "The records of {} that came before its group had offsets are skipped, as of a new"
              + " partition: set spring.kafka.consumer.auto-offset-reset=earliest",
          element);
    }
  }

  /** Refuses what moves offsets in another way, or calls the listener in another. */
  private static void requireKeeps(
      AbstractMessageListenerContainer<?, ?> container,
      AnnotatedElement element,
      Map<String, Object> consuming) {
    ContainerProperties properties = container.getContainerProperties();
    Object listener = properties.getMessageListener();
    while (listener instanceof DelegatingMessageListener<?> delegating) {
      listener = delegating.getDelegate();
    }
    require(
        !isPresent(element, RetryableTopic.class),
        element,
        "@RetryableTopic moves the offset of a record that failed",
        "take it away: firstclaim.retry.* says how often a listener is tried, then its record goes"
            + " to firstclaim.dead-letter.topic");
    require(
        !(listener instanceof BatchMessageListener),
        element,
        "it is called with batches, of which one record may be done and another not",
        "have it called with single records (batch = \"false\", or another container factory)");
    require(
        !hasTransactions(properties),
        element,
        "its container has transactions, which would be open before the claim and roll back after"
            + " it",
        "take the transaction manager from its container factory, and put @Transactional on the"
            + " listener if it needs one");
    require(
        !(listener instanceof AsyncRepliesAware replies && replies.isAsyncReplies()),
        element,
        "it returns before its work ends",
        "let it return void, and wait for its work in it");
    require(
        !properties.isAsyncAcks(),
        element,
        "its container takes acknowledgements in any order (asyncAcks)",
        "leave that false: a deduplicated record is acknowledged once it is recorded as done");
    require(
        container.getCommonErrorHandler() == null,
        element,
        "its container has an error handler, which skips records",
        "give it a container factory without one: firstclaim.retry.* says how often a listener is"
            + " tried, then its record goes to firstclaim.dead-letter.topic");
    require(
        !Boolean.parseBoolean(
            String.valueOf(consuming.get(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG))),
        element,
        "enable.auto.commit is true, which moves offsets whatever became of the records",
        "leave it false, and let the container commit");
  }

  @SuppressWarnings("removal") // whoever still sets it so has transactions all the same
  private static boolean hasTransactions(ContainerProperties properties) {
    return properties.getKafkaAwareTransactionManager() != null
        || properties.getTransactionManager() != null;
  }

  private static Map<String, Object> consuming(
      AbstractMessageListenerContainer<?, ?> container,
      AbstractKafkaListenerContainerFactory<?, ?, ?> factory) {
    Map<String, Object> settings =
        new HashMap<>(
            Objects.requireNonNull(factory.getConsumerFactory()).getConfigurationProperties());
    var own = container.getContainerProperties().getKafkaConsumerProperties();
    own.stringPropertyNames().forEach(name -> settings.put(name, own.getProperty(name)));
    return settings;
  }

  private static Duration maxPollInterval(Map<String, Object> consuming) {
    Object given = consuming.get(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG);
    return given == null
        ? Duration.ofMinutes(5)
        : Duration.ofMillis(Long.parseLong(given.toString().strip()));
  }

  private static @Nullable Deduplicated of(AnnotatedElement element) {
    return AnnotatedElementUtils.findMergedAnnotation(element, Deduplicated.class);
  }

  private static boolean isPresent(
      AnnotatedElement element, Class<? extends Annotation> annotation) {
    return MergedAnnotations.from(element, MergedAnnotations.SearchStrategy.TYPE_HIERARCHY)
        .isPresent(annotation);
  }

  private static void require(
      boolean holds, AnnotatedElement element, String fault, String remedy) {
    if (!holds) {
      throw refused(element, fault, remedy);
    }
  }

  private static StartRefusedException refused(
      AnnotatedElement element, String fault, String remedy) {
    return new StartRefusedException(
        "@Deduplicated cannot be kept on %s: %s".formatted(element, fault), remedy);
  }
}
