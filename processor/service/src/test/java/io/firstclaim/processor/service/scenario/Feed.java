package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Publishes records to the input topic. */
final class Feed implements AutoCloseable {
  private static final int MAX_REQUEST = 4 << 20;

  /** Where a record is. */
  record Place(String id, int partition, long offset) {}

  private final String topic;
  private final KafkaProducer<byte[], byte[]> producer;
  private final Queue<Place> places = new ConcurrentLinkedQueue<>();
  private final Queue<Exception> faults = new ConcurrentLinkedQueue<>();

  Feed(String topic) {
    this.topic = topic;
    this.producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                Servers.KAFKA.bootstrapServers(),
                ProducerConfig.MAX_REQUEST_SIZE_CONFIG,
                MAX_REQUEST),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  /** IDs such as {@code event-7}. */
  static List<String> ids(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> prefix + "-" + i).toList();
  }

  /** Publishes a record for each ID, as its key and with a value made of it. */
  void send(Collection<String> ids) {
    ids.forEach(id -> send(id, "value of " + id));
    flush();
  }

  void send(String id) {
    send(List.of(id));
  }

  /** In how many partitions the broker takes a record of 30,000 bytes now. */
  int takesLarge() throws InterruptedException {
    byte[] key = (Scenario.WARM_UP + "-large").getBytes(UTF_8);
    int taken = 0;
    for (PartitionInfo of : producer.partitionsFor(topic)) {
      try {
        var _ =
            producer.send(new ProducerRecord<>(topic, of.partition(), key, new byte[30_000])).get();
        taken++;
      } catch (ExecutionException e) {
        assertThat(e).hasCauseInstanceOf(RecordTooLargeException.class);
      }
    }
    return taken;
  }

  /** Publishes a record without waiting for the broker, as {@link #flush} does. */
  void send(String id, String value) {
    var _ =
        producer.send(
            new ProducerRecord<>(topic, id.getBytes(UTF_8), value.getBytes(UTF_8)),
            (place, fault) -> {
              if (fault != null) {
                faults.add(fault);
              } else if (!id.startsWith(Scenario.WARM_UP)) {
                places.add(new Place(id, place.partition(), place.offset()));
              }
            });
  }

  /** Waits until the broker has all that was published; fails if it did not take one of them. */
  void flush() {
    producer.flush();
    Exception fault = faults.poll();
    if (fault != null) {
      throw new IllegalStateException(fault);
    }
  }

  /** A record of any kind, to be sent. */
  ProducerRecord<byte[], byte[]> message(
      byte @Nullable [] key, byte @Nullable [] value, List<Header> headers) {
    return new ProducerRecord<>(topic, null, key, value, headers);
  }

  /** Publishes a record and returns where it is. */
  RecordMetadata send(ProducerRecord<byte[], byte[]> message) {
    try {
      return producer.send(message).get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Where the records are that were sent by ID. */
  List<Place> places() {
    return List.copyOf(places);
  }

  @Override
  public void close() {
    producer.close();
  }
}
