package io.firstclaim.spring.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.spring.Deduplicated;
import io.firstclaim.spring.autoconfigure.FirstclaimAutoConfiguration;
import io.firstclaim.spring.autoconfigure.StartRefusedException;
import io.firstclaim.spring.jobs.FirstclaimJobsAutoConfiguration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpoint;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.KafkaListenerErrorHandler;
import org.springframework.kafka.retrytopic.RetryTopicConfiguration;
import org.springframework.kafka.retrytopic.RetryTopicConfigurationBuilder;
import org.springframework.kafka.support.TopicPartitionOffset;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.scheduling.annotation.Async;

/** No broker is there: all of this is known before the first container starts. */
class RefusalsTest {
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  KafkaAutoConfiguration.class,
                  FirstclaimAutoConfiguration.class,
                  FirstclaimJobsAutoConfiguration.class,
                  FirstclaimKafkaAutoConfiguration.class))
          .withPropertyValues(
              "firstclaim.claim.backend=memory",
              "spring.kafka.bootstrap-servers=127.0.0.1:1",
              "spring.kafka.listener.auto-startup=false",
              "spring.kafka.consumer.group-id=g");

  private void refused(Class<?> listener, String fault, String remedy, String... settings) {
    refused(application.withPropertyValues(settings).withBean(listener), fault, remedy);
  }

  private static void refused(ApplicationContextRunner application, String fault, String remedy) {
    application.run(
        context -> {
          assertThat(context).hasFailed();
          StartRefusedException refusal = null;
          for (Throwable each = context.getStartupFailure(); each != null; each = each.getCause()) {
            refusal = each instanceof StartRefusedException found ? found : refusal;
          }
          assertThat(refusal).isNotNull().hasMessageContaining(fault);
          assertThat(Objects.requireNonNull(refusal).remedy()).contains(remedy);
        });
  }

  static class Plain {
    @KafkaListener(topics = "in")
    @Deduplicated(name = "plain", id = "key")
    void hear(String value) {}
  }

  @Test
  void plainListener_isAdvised() {
    application.withBean(Plain.class).run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void lazyListener_isAdvisedWhenItIsAskedFor_andItsApplicationIsStoppedAndStarted() {
    application
        .withBean(Plain.class, Plain::new, bean -> bean.setLazyInit(true))
        .run(
            context -> {
              var containers = context.getBean(KafkaListenerEndpointRegistry.class);
              containers.setAlwaysStartAfterRefresh(false); // no broker is there
              var unused = context.getBean(Plain.class);
              assertThat(containers.getListenerContainers()).hasSize(1);
              var source =
                  context.getSourceApplicationContext(ConfigurableApplicationContext.class);

              source.stop();
              source.start();

              assertThat(context.getBean(ListenerAdvisor.class).isRunning()).isTrue();
            });
  }

  @Test
  void listenerOnAFinalBean_isAdvised_asItsContainerIs() {
    application.withBean(Final.class).run(context -> assertThat(context).hasNotFailed());
  }

  static final class Final {
    @KafkaListener(topics = "in")
    @Deduplicated(name = "final", id = "key")
    void hear(String value) {}
  }

  static class NoListener {
    @Deduplicated(name = "none", id = "key")
    void hear(String value) {}
  }

  @Test
  void methodThatIsNoListener_isRefused() {
    refused(NoListener.class, "no @KafkaListener and no @Scheduled", "call Deduplicator.run");
  }

  @Deduplicated(name = "none", id = "key")
  static class NoListenerClass {}

  @Test
  void classThatIsNoListener_isRefused() {
    refused(NoListenerClass.class, "has no @KafkaListener", "methods");
  }

  @KafkaListener(topics = "in")
  static class Handlers {
    @KafkaHandler
    @Deduplicated(name = "handler", id = "key")
    void hear(String value) {}
  }

  @Test
  void handlerOfAClass_isRefused() {
    refused(Handlers.class, "@KafkaHandler", "put it on the class");
  }

  static class Batches {
    @KafkaListener(topics = "in", batch = "true")
    @Deduplicated(name = "batches", id = "key")
    void hear(List<String> values) {}
  }

  @Test
  void batches_areRefused() {
    refused(Batches.class, "batches", "single records");
    refused(Plain.class, "batches", "single records", "spring.kafka.listener.type=batch");
  }

  static class Later {
    @KafkaListener(topics = "in")
    @Deduplicated(name = "later", id = "key")
    CompletableFuture<String> hear(String value) {
      return CompletableFuture.completedFuture(value);
    }
  }

  static class Elsewhere {
    @Async
    @KafkaListener(topics = "in")
    @Deduplicated(name = "elsewhere", id = "key")
    void hear(String value) {}
  }

  @Test
  void listenersThatReturnBeforeTheirWorkEnds_areRefused() {
    refused(Later.class, "returns before its work ends", "return void");
    refused(Elsewhere.class, "returns before its work ends", "return void");
    refused(ElsewhereAll.class, "returns before its work ends", "return void");
    refused(ElsewhereHandlers.class, "returns before its work ends", "return void");
  }

  @Async
  static class ElsewhereAll {
    @KafkaListener(topics = "in")
    @Deduplicated(name = "elsewhere-all", id = "key")
    void hear(String value) {}
  }

  @KafkaListener(topics = "in")
  @Deduplicated(name = "elsewhere-handlers", id = "key")
  static class ElsewhereHandlers {
    @Async
    @KafkaHandler
    void hear(String value) {}
  }

  static class Answering {
    @KafkaListener(topics = "in")
    @SendTo("out")
    @Deduplicated(name = "answering", id = "key")
    String hear(String value) {
      return value;
    }
  }

  @KafkaListener(topics = "in")
  @Deduplicated(name = "answering-handlers", id = "key")
  static class AnsweringHandlers {
    @KafkaHandler
    @SendTo("out")
    String hear(String value) {
      return value;
    }
  }

  @Test
  void answersThatAreSentAfterwards_areRefused() {
    refused(Answering.class, "@SendTo", "wait until it is acknowledged");
    refused(AnsweringHandlers.class, "@SendTo", "wait until it is acknowledged");
  }

  static class Returning {
    @KafkaListener(topics = "in")
    @Deduplicated(name = "returning", id = "key")
    Message<String> hear(String value) {
      return new GenericMessage<>(value);
    }
  }

  static class ReturningAnything {
    @KafkaListener(topics = "in")
    @Deduplicated(name = "returning-anything", id = "key")
    Object hear(String value) {
      return CompletableFuture.completedFuture(value);
    }
  }

  @KafkaListener(topics = "in")
  @Deduplicated(name = "returning-handlers", id = "key")
  static class ReturningHandlers {
    @KafkaHandler
    void hear(String value) {}

    @KafkaHandler
    List<Message<String>> hear(Integer value) {
      return List.of();
    }
  }

  @Test
  void whatAListenerReturns_mayBeSentAfterwards_andIsRefused() {
    refused(Returning.class, "it returns something", "return void");
    refused(ReturningAnything.class, "it returns something", "return void");
    refused(ReturningHandlers.class, "it returns something", "return void");
  }

  static class ReturningNothing {
    @KafkaListener(topics = "in")
    @Deduplicated(name = "returning-nothing", id = "key")
    @Nullable Void hear(String value) {
      return null;
    }
  }

  @Test
  void listenerThatReturnsNothing_isAdvised() {
    application.withBean(ReturningNothing.class).run(context -> assertThat(context).hasNotFailed());
  }

  static class Lenient {
    @KafkaListener(topics = "in", errorHandler = "lenient")
    @Deduplicated(name = "lenient", id = "key")
    void hear(String value) {}
  }

  @Test
  void errorHandlerOfTheListener_isRefused() {
    refused(
        application
            .withBean(Lenient.class)
            .withBean("lenient", KafkaListenerErrorHandler.class, () -> (message, fault) -> ""),
        "errorHandler",
        "firstclaim.retry.*");
  }

  static class Retryable {
    @RetryableTopic
    @KafkaListener(topics = "in")
    @Deduplicated(name = "retryable", id = "key")
    void hear(String value) {}
  }

  @Test
  void retryTopics_areRefused() {
    refused(Retryable.class, "@RetryableTopic", "firstclaim.retry.*");
  }

  @Test
  void retryTopicsByAProperty_areRefused() {
    refused(
        Plain.class,
        "Plain.hear(java.lang.String): its container's error handler was replaced",
        "spring.kafka.retry.topic.enabled=false",
        "spring.kafka.retry.topic.enabled=true");
  }

  @Configuration(proxyBeanMethods = false)
  static class RetryTopics {
    @Bean
    RetryTopicConfiguration retryTopics(
        KafkaTemplate<?, ?> template, @Value("${retried}") String topic) {
      return RetryTopicConfigurationBuilder.newInstance()
          .includeTopic(topic)
          .doNotAutoCreateRetryTopics()
          .create(template);
    }
  }

  @Test
  void retryTopicsByABean_areRefused_whereTheyAreTheListeners() {
    var retrying = application.withBean(Plain.class).withUserConfiguration(RetryTopics.class);
    refused(
        retrying.withPropertyValues("retried=in"), "RetryTopicConfiguration", "firstclaim.retry.*");
    retrying.withPropertyValues("retried=other").run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void errorHandlerOfOnesOwn_isRefused() {
    refused(
        application
            .withBean(Plain.class)
            .withBean(CommonErrorHandler.class, DefaultErrorHandler::new),
        "error handler",
        "a container factory without one");
  }

  @Configuration(proxyBeanMethods = false)
  static class Transactions {
    @Bean
    KafkaTransactionManager<?, ?> transactions(ProducerFactory<?, ?> producers) {
      return new KafkaTransactionManager<>(producers);
    }
  }

  @Test
  void containerTransactions_areRefused() {
    refused(
        application
            .withBean(Plain.class)
            .withUserConfiguration(Transactions.class)
            .withPropertyValues("spring.kafka.producer.transaction-id-prefix=tx"),
        "its container has transactions",
        "@Transactional on the listener");
  }

  /** A factory that is given its transactions as Spring Kafka once had it. */
  @Configuration(proxyBeanMethods = false)
  static class OtherTransactions {
    @Bean
    @SuppressWarnings({"deprecation", "removal"}) // whoever still does so has transactions, too
    ConcurrentKafkaListenerContainerFactory<Object, Object> kafkaListenerContainerFactory(
        ConsumerFactory<Object, Object> consumers) {
      var producers = new DefaultKafkaProducerFactory<Object, Object>(Map.of());
      producers.setTransactionIdPrefix("tx");
      var factory = new ConcurrentKafkaListenerContainerFactory<Object, Object>();
      factory.setConsumerFactory(consumers);
      factory
          .getContainerProperties()
          .setTransactionManager(new KafkaTransactionManager<>(producers));
      return factory;
    }
  }

  @Test
  void containerTransactions_byThePropertyOfOld_areRefused() {
    refused(
        application.withBean(Plain.class).withUserConfiguration(OtherTransactions.class),
        "its container has transactions",
        "@Transactional on the listener");
  }

  @Test
  void settingsThatMoveOffsetsOtherwise_areRefused() {
    refused(
        Plain.class,
        "enable.auto.commit",
        "leave it false",
        "spring.kafka.consumer.enable-auto-commit=true");
    refused(Plain.class, "asyncAcks", "leave that false", "spring.kafka.listener.async-acks=true");
  }

  @Test
  void pollIntervalThatTheStoreMayExceed_isRefused() {
    refused(
        Plain.class,
        "max.poll.interval.ms is 20000",
        "give 41000 or more",
        "spring.kafka.consumer.max-poll-interval=20s");
  }

  static class Namesake {
    @KafkaListener(topics = "other")
    @Deduplicated(name = "plain", id = "key")
    void hear(String value) {}
  }

  @Test
  void oneNameForTwoListeners_isRefused() {
    refused(
        application.withBean(Plain.class).withBean(Namesake.class),
        "each would skip what the other has done",
        "a name of its own");
    refused(
        application.withBean("one", Plain.class).withBean("two", Plain.class),
        "the same of another bean",
        "a name of its own");
  }

  static class WrongId {
    @KafkaListener(topics = "in")
    @Deduplicated(name = "wrong", id = "jason:/id")
    void hear(String value) {}
  }

  @Test
  void wrongId_isRefused() {
    refused(WrongId.class, "'jason:/id' is none of", "annotation");
  }

  @Configuration(proxyBeanMethods = false)
  static class FinalFactory {
    static final class Unproxied
        implements KafkaListenerContainerFactory<
            ConcurrentMessageListenerContainer<String, String>> {
      @Override
      public ConcurrentMessageListenerContainer<String, String> createListenerContainer(
          @Nullable KafkaListenerEndpoint endpoint) {
        throw new UnsupportedOperationException();
      }

      @Override
      public ConcurrentMessageListenerContainer<String, String> createContainer(
          TopicPartitionOffset... topicPartitions) {
        throw new UnsupportedOperationException();
      }

      @Override
      public ConcurrentMessageListenerContainer<String, String> createContainer(String... topics) {
        throw new UnsupportedOperationException();
      }

      @Override
      public ConcurrentMessageListenerContainer<String, String> createContainer(
          java.util.regex.Pattern topicPattern) {
        throw new UnsupportedOperationException();
      }
    }

    @Bean
    KafkaListenerContainerFactory<?> kafkaListenerContainerFactory() {
      return new Unproxied();
    }
  }

  @Test
  void factoryThatCannotBeProxied_isRefused() {
    refused(
        application.withUserConfiguration(FinalFactory.class), "cannot be proxied", "not be final");
  }

  /** A factory that is no bean, as SpEL or code of one's own may have it. */
  @Configuration(proxyBeanMethods = false)
  static class Hidden {
    static KafkaListenerContainerFactory<?> made(ConsumerFactory<Object, Object> consumers) {
      var factory = new ConcurrentKafkaListenerContainerFactory<Object, Object>();
      factory.setConsumerFactory(consumers);
      return factory;
    }

    static class Maker {
      private final ConsumerFactory<Object, Object> consumers;

      Maker(ConsumerFactory<Object, Object> consumers) {
        this.consumers = consumers;
      }

      public KafkaListenerContainerFactory<?> factory() {
        return made(consumers);
      }
    }

    @Bean
    Maker maker(ConsumerFactory<Object, Object> consumers) {
      return new Maker(consumers);
    }

    static class Listener {
      @KafkaListener(topics = "in", containerFactory = "#{maker.factory()}", autoStartup = "false")
      @Deduplicated(name = "hidden", id = "key")
      void hear(String value) {}
    }
  }

  @Test
  void listenerWhoseContainerWasPassedOver_isRefused() {
    refused(
        application.withUserConfiguration(Hidden.class).withBean(Hidden.Listener.class),
        "does not come from a container factory that is a bean",
        "name such a bean");
  }
}
