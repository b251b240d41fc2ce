package io.firstclaim.bench;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.stack.server.KafkaBroker;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.regions.Region;

/** The broker that the measurements share, and what they are fed with. */
final class Stack implements AutoCloseable {
  static final int PARTITIONS = 6;
  static final int CONNECTIONS = 2 * ClaimStore.REQUESTS_AT_ONCE; // as the service has
  static final ClaimSettings SETTINGS =
      new ClaimSettings(
          "bench", "bench", Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofDays(15));

  private final KafkaBroker kafka = KafkaBroker.start();
  private final AtomicInteger names = new AtomicInteger();

  String bootstrapServers() {
    return kafka.bootstrapServers();
  }

  /** A name that nothing has yet. */
  String name(String what) {
    return "%s-%d".formatted(what, names.incrementAndGet());
  }

  /** A new topic. */
  String topic(String what) {
    return topic(what, PARTITIONS);
  }

  private String topic(String what, int partitions) {
    String topic = name(what);
    kafka.createTopic(topic, partitions);
    return topic;
  }

  /** Makes a topic of that name. */
  void create(String topic) {
    kafka.createTopic(topic, PARTITIONS);
  }

  /** A new topic with so many records: keys are their numbers, values of so many bytes. */
  String topicOf(int records, int bytes) {
    return topicOf(records, bytes, PARTITIONS);
  }

  /** A new topic with so many records in so many partitions. */
  String topicOf(int records, int bytes, int partitions) {
    return topicOf(records, partitions, key -> Arrays.copyOf(key, bytes));
  }

  /** A new topic with so many records, whose values are made of their keys. */
  String topicOf(int records, int partitions, UnaryOperator<byte[]> valueOf) {
    String topic = topic("bench", partitions);
    fill(topic, records, partitions, valueOf);
    return topic;
  }

  /** Puts so many records with values of so many bytes into a topic. */
  void fill(String topic, int records, int bytes) {
    fill(topic, records, PARTITIONS, key -> Arrays.copyOf(key, bytes));
  }

  private void fill(String topic, int records, int partitions, UnaryOperator<byte[]> valueOf) {
    AtomicReference<Exception> failure = new AtomicReference<>();
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrapServers(), "linger.ms", 20, "batch.size", 1 << 18),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      for (int i = 0; i < records; i++) {
        byte[] key = "%s-%d".formatted(topic, i).getBytes(StandardCharsets.UTF_8);
        var _ =
            producer.send(
                new ProducerRecord<>(topic, i % partitions, key, valueOf.apply(key)),
                (_, fault) -> {
                  if (fault != null) {
                    failure.set(fault);
                  }
                });
      }
    }
    if (failure.get() != null) {
      throw new IllegalStateException("topic " + topic + " was not filled", failure.get());
    }
  }

  KafkaConsumer<byte[], byte[]> consumer(String group) {
    return consumer(bootstrapServers(), group);
  }

  static KafkaConsumer<byte[], byte[]> consumer(String bootstrapServers, String group) {
    return new KafkaConsumer<>(
        Map.of(
            "bootstrap.servers",
            bootstrapServers,
            "group.id",
            group,
            "auto.offset.reset",
            "earliest",
            "enable.auto.commit",
            false),
        new ByteArrayDeserializer(),
        new ByteArrayDeserializer());
  }

  /** The AWS settings of the local endpoints. */
  static <B extends AwsClientBuilder<B, ?>> B at(URI endpoint, B builder) {
    return builder
        .endpointOverride(endpoint)
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local")));
  }

  @Override
  public void close() {
    kafka.close();
  }
}
