package io.firstclaim.processor.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.testing.LocalKafka;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class SideClientsTest {
  @Test
  void reader_goesOnWithTheOldestRecord_whereItsOffsetIsGone() throws Exception {
    LocalKafka.createTopic("log", 1, Map.of());
    TopicPartition log = new TopicPartition("log", 0);
    SideClients clients =
        new SideClients(
            Engine.builder()
                .zone("a")
                .topics("in")
                .recordId("key")
                .bootstrapServers(LocalKafka.bootstrapServers())
                .settings());
    try (Producer<byte[], byte[]> producer = clients.producer();
        Admin admin = clients.admin();
        Consumer<byte[], byte[]> reader = clients.reader()) {
      for (byte n = 0; n < 3; n++) {
        var _ = producer.send(new ProducerRecord<>("log", new byte[] {n})).get();
      }
      var _ = admin.deleteRecords(Map.of(log, RecordsToDelete.beforeOffset(2))).all().get();
      reader.assign(List.of(log));
      reader.seek(log, 0);

      ConsumerRecord<byte[], byte[]> first = null;
      while (first == null) {
        for (ConsumerRecord<byte[], byte[]> record : reader.poll(Duration.ofSeconds(1))) {
          first = first == null ? record : first;
        }
      }
      assertThat(first.offset()).isEqualTo(2);
    }
  }
}
