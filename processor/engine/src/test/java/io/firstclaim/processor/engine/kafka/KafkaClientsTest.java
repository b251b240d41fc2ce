package io.firstclaim.processor.engine.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
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
}
