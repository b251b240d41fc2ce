package io.firstclaim.processor.engine.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.testing.LocalKafka;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

class KafkaClientsTest {
  @Test
  void whatIsFetched_isKafkasDefault_whereMemoryAbounds() {
    assertThat(KafkaClients.fetching(1L << 40))
        .isEqualTo(
            Map.of(
                "max.poll.records",
                500,
                "fetch.max.bytes",
                50 << 20,
                "max.partition.fetch.bytes",
                1 << 20));
  }

  @Test
  void whatIsFetched_isAPartOfWhatMayBeInMemory() {
    assertThat(KafkaClients.fetching(12 << 20))
        .isEqualTo(
            Map.of(
                "max.poll.records",
                12,
                "fetch.max.bytes",
                3 << 20,
                "max.partition.fetch.bytes",
                768 << 10));
  }

  @Test
  void oneRecordIsAlwaysFetched() {
    assertThat(KafkaClients.fetching(1)).containsEntry("max.poll.records", 1);
  }

  @Test
  void outcomesThatAreAlike_areCompressed_unlessItIsSaidOtherwise() {
    assertThat(compressionOfOutcomes(Map.of())).isLessThan(0.5);
    assertThat(compressionOfOutcomes(Map.of("compression.type", "none"))).isEqualTo(1);
  }

  /** What is left of each byte. */
  private static double compressionOfOutcomes(Map<String, String> kafka) {
    String topic = LocalKafka.newName();
    LocalKafka.createTopic(topic, 1);
    var clients =
        new KafkaClients(
            Engine.builder()
                .zone("a")
                .topics("in")
                .recordId("key")
                .bootstrapServers(LocalKafka.bootstrapServers())
                .kafka(kafka)
                .settings());
    try (Producer<byte[], byte[]> producer = clients.outcomesProducer()) {
      for (int i = 0; i < 100; i++) {
        var _ = producer.send(new ProducerRecord<>(topic, new byte[600]));
      }
      producer.flush();
      return producer.metrics().values().stream()
          .filter(metric -> metric.metricName().group().equals("producer-metrics"))
          .filter(metric -> metric.metricName().name().equals("compression-rate-avg"))
          .mapToDouble(metric -> (double) metric.metricValue())
          .findAny()
          .orElseThrow();
    }
  }
}
