package io.firstclaim.spring.kafka;

import io.firstclaim.listener.DeadLetters;
import io.firstclaim.listener.Deduplication;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.spring.autoconfigure.FirstclaimAutoConfiguration;
import io.firstclaim.spring.autoconfigure.FirstclaimProperties;
import io.firstclaim.spring.autoconfigure.StartRefusedException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.ProducerFactory;

/** Has {@link io.firstclaim.spring.Deduplicated} work on Kafka listeners. */
@AutoConfiguration(
    after = FirstclaimAutoConfiguration.class,
    afterName = "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration")
@ConditionalOnClass(KafkaListener.class)
public class FirstclaimKafkaAutoConfiguration {
  /** Made by Spring. */
  FirstclaimKafkaAutoConfiguration() {}

  @Bean
  DeadLetters firstclaimDeadLetters(
      FirstclaimProperties properties,
      ClaimSettings claims,
      ObjectProvider<ProducerFactory<?, ?>> producers,
      TimeSource time) {
    ProducerFactory<?, ?> producer = producers.getIfUnique();
    if (producer == null) {
      throw new StartRefusedException(
          "dead letters need one ProducerFactory, and there is none or none of several is primary",
          "define one, or mark one with @Primary; its bootstrap servers and security are used");
    }
    return new DeadLetters(
        producer.getConfigurationProperties(),
        properties.deadLetter().topic(),
        claims.namespace(),
        properties.zone(),
        time);
  }

  @Bean
  Deduplication firstclaimDeduplication(
      Deduplicator deduplicator, ClaimStore store, DeadLetters letters, TimeSource time) {
    return Deduplication.of(deduplicator, store, letters, time);
  }

  /** What it needs is asked for late, as it is there before all other beans. */
  @Bean
  static ListenerAdvisor firstclaimListeners(
      ObjectProvider<Deduplication> deduplication, ObjectProvider<ClaimSettings> claims) {
    return new ListenerAdvisor(
        new DeduplicatedListeners(deduplication::getObject, claims::getObject));
  }
}
