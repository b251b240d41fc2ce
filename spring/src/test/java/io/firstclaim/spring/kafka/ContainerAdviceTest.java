package io.firstclaim.spring.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.spring.Deduplicated;
import io.firstclaim.spring.autoconfigure.FirstclaimAutoConfiguration;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DelegatingMessageListener;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.ListenerType;
import org.springframework.kafka.listener.ListenerUtils;

/** No broker is there: the containers stand still, and the test calls what they would call. */
class ContainerAdviceTest {
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  KafkaAutoConfiguration.class,
                  FirstclaimAutoConfiguration.class,
                  FirstclaimKafkaAutoConfiguration.class))
          .withBean(Listener.class)
          .withPropertyValues(
              "firstclaim.claim.backend=memory",
              "spring.kafka.bootstrap-servers=127.0.0.1:1",
              "spring.kafka.listener.auto-startup=false",
              "spring.kafka.consumer.group-id=g");

  static class Listener {
    private final AtomicInteger calls = new AtomicInteger();

    @KafkaListener(topics = "in", autoStartup = "false")
    @Deduplicated(name = "advised", id = "key")
    void hear(String value) {
      calls.incrementAndGet();
    }
  }

  /** A factory whose listeners have an advice, and a filter, of the application's own. */
  @Configuration(proxyBeanMethods = false)
  static class OwnAdvice {
    private final AtomicInteger calls = new AtomicInteger();

    @Bean
    AtomicInteger adviceCalls() {
      return calls;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> kafkaListenerContainerFactory(
        ConsumerFactory<Object, Object> consumers) {
      var factory = new ConcurrentKafkaListenerContainerFactory<Object, Object>();
      factory.setConsumerFactory(consumers);
      factory.setRecordFilterStrategy(record -> false);
      factory
          .getContainerProperties()
          .setAdviceChain(
              (MethodInterceptor)
                  call -> {
                    if (call.getMethod().getName().equals("onMessage")) {
                      calls.incrementAndGet();
                    }
                    return call.proceed();
                  });
      return factory;
    }
  }

  private static ContainerProperties properties(ApplicationContext context) {
    return context
        .getBean(KafkaListenerEndpointRegistry.class)
        .getListenerContainers()
        .iterator()
        .next()
        .getContainerProperties();
  }

  @SuppressWarnings("unchecked") // as its container takes it
  private static void deliver(Object listener, String key) {
    ((AcknowledgingConsumerAwareMessageListener<Object, Object>) listener)
        .onMessage(new ConsumerRecord<>("in", 0, 0, key, "value"), null, null);
  }

  /** A container of several consumers makes them one by one, while the first already run. */
  private static KafkaMessageListenerContainer<Object, Object> child(
      ApplicationContext context, ContainerProperties properties) {
    @SuppressWarnings("unchecked")
    ConsumerFactory<Object, Object> consumers = context.getBean(ConsumerFactory.class);
    return new KafkaMessageListenerContainer<>(consumers, properties);
  }

  @Test
  void furtherConsumers_leaveTheAdviceOfThoseThatRunAsItIs() {
    application.run(ContainerAdviceTest::assertAdviceStays);
    application.withUserConfiguration(OwnAdvice.class).run(ContainerAdviceTest::assertAdviceStays);
  }

  private static void assertAdviceStays(ApplicationContext context) {
    Object listener = properties(context).getMessageListener();
    Advisor[] before = ((Advised) listener).getAdvisors();

    for (int i = 0; i < 20; i++) {
      assertThat(child(context, properties(context)).getContainerProperties().getMessageListener())
          .isSameAs(listener);
    }

    // An advice that was taken off and put on again has a new advisor.
    Advisor[] after = ((Advised) listener).getAdvisors();
    assertThat(after).hasSameSizeAs(before);
    for (int i = 0; i < after.length; i++) {
      assertThat(after[i]).isSameAs(before[i]);
    }
  }

  @Test
  void adviceOfTheApplication_isInsideTheClaim() {
    application
        .withUserConfiguration(OwnAdvice.class)
        .run(
            context -> {
              Object listener = properties(context).getMessageListener();
              deliver(listener, "k-1");
              deliver(listener, "k-1");
              deliver(
                  child(context, properties(context)).getContainerProperties().getMessageListener(),
                  "k-1");

              assertThat(context.getBean(Listener.class).calls).hasValue(1);
              assertThat(context.getBean("adviceCalls", AtomicInteger.class)).hasValue(1);
            });
  }

  @Test
  void advisedListener_isOfTheKindThatItWas() {
    application.run(
        context -> {
          Object listener = properties(context).getMessageListener();
          assertThat(ListenerUtils.determineListenerType(listener))
              .isEqualTo(ListenerType.ACKNOWLEDGING_CONSUMER_AWARE);
          assertThat(listener).isNotInstanceOf(DelegatingMessageListener.class);
        });
    application
        .withUserConfiguration(OwnAdvice.class)
        .run(
            context -> {
              Object listener = properties(context).getMessageListener();
              assertThat(ListenerUtils.determineListenerType(listener))
                  .isEqualTo(ListenerType.ACKNOWLEDGING_CONSUMER_AWARE);
              assertThat(listener).isInstanceOf(DelegatingMessageListener.class);
            });
  }
}
