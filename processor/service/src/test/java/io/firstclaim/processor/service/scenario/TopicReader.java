package io.firstclaim.processor.service.scenario;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * All that is in a topic, as it comes; the topic may be created later. A thread of its own reads.
 */
final class TopicReader<T> implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(200);

  private final KafkaConsumer<byte[], byte[]> consumer =
      new KafkaConsumer<>(
          Map.of(
              ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
              Servers.KAFKA.bootstrapServers(),
              ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG,
              false),
          new ByteArrayDeserializer(),
          new ByteArrayDeserializer());
  private final String topic;
  private final Function<ConsumerRecord<byte[], byte[]>, T> format;
  private final Queue<T> entries = new ConcurrentLinkedQueue<>();
  private final Background reading;

  TopicReader(String topic, Function<ConsumerRecord<byte[], byte[]>, T> format) {
    this.topic = topic;
    this.format = format;
    this.reading = new Background("read-" + topic, this::read);
  }

  /** What was read so far. */
  List<T> all() {
    return List.copyOf(entries);
  }

  private void read() {
    try {
      List<TopicPartition> partitions = awaitPartitions();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      while (true) {
        for (ConsumerRecord<byte[], byte[]> entry : consumer.poll(POLL)) {
          entries.add(format.apply(entry));
        }
      }
    } catch (InterruptException e) {
      boolean _ = Thread.interrupted(); // it would interrupt the closing, too
    } finally {
      consumer.close(CloseOptions.timeout(Duration.ZERO));
    }
  }

  private List<TopicPartition> awaitPartitions() {
    Scenario.await("topic " + topic)
        .forever()
        .until(() -> consumer.listTopics().containsKey(topic));
    return consumer.partitionsFor(topic).stream()
        .map(info -> new TopicPartition(topic, info.partition()))
        .toList();
  }

  @Override
  public void close() {
    reading.close();
  }
}
