package io.firstclaim.micronaut.kafka;

import io.firstclaim.listener.DeadLetters;
import io.firstclaim.listener.Deduplication;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.micronaut.config.FirstclaimSettings;
import io.micronaut.configuration.kafka.config.AbstractKafkaProducerConfiguration;
import io.micronaut.configuration.kafka.config.KafkaDefaultConfiguration;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Requires;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/** What deduplicated listeners share. */
@Factory
@Requires(beans = KafkaDefaultConfiguration.class)
final class KafkaFactory {
  @Singleton
  @Bean(preDestroy = "close")
  DeadLetters deadLetters(
      FirstclaimSettings.Instance instance,
      FirstclaimSettings.DeadLetter deadLetter,
      ClaimSettings claims,
      AbstractKafkaProducerConfiguration<?, ?> producers,
      TimeSource time) {
    Map<String, Object> producing = new HashMap<>();
    Properties configured = producers.getConfig();
    configured
        .stringPropertyNames()
        .forEach(name -> producing.put(name, configured.getProperty(name)));
    return new DeadLetters(
        producing, deadLetter.topic(), claims.namespace(), instance.zone(), time);
  }

  @Singleton
  Deduplication deduplication(
      Deduplicator deduplicator, ClaimStore store, DeadLetters letters, TimeSource time) {
    return Deduplication.of(deduplicator, store, letters, time);
  }
}
