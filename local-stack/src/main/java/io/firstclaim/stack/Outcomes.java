package io.firstclaim.stack;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** Reads the outcomes topic from its beginning into the {@link Ledger}. */
final class Outcomes implements AutoCloseable {
  static final String TOPIC = "firstclaim.outcomes";
  private static final String PRESENCE = "firstclaim-presence";
  private static final ObjectReader JSON = JsonMapper.builder().build().reader();

  private final Ledger ledger;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Thread thread = Thread.ofPlatform().daemon().name("outcomes").unstarted(this::run);
  private volatile @Nullable Exception failure;

  Outcomes(Ledger ledger, String bootstrapServers) {
    this.ledger = ledger;
    Map<String, Object> config =
        Map.of("bootstrap.servers", bootstrapServers, "client.id", "outcomes");
    this.consumer =
        new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  void start() {
    List<TopicPartition> partitions =
        consumer.partitionsFor(TOPIC).stream()
            .map(each -> new TopicPartition(TOPIC, each.partition()))
            .toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    thread.start();
  }

  /** Fails if the topic could not be read or understood. */
  void check() {
    Exception cause = failure;
    if (cause != null) {
      throw new JobFailure(TOPIC + " cannot be read: " + cause.getMessage(), cause);
    }
  }

  @Override
  public void close() {
    consumer.wakeup();
  }

  private void run() {
    try (consumer) {
      while (true) {
        for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofMillis(200))) {
          note(each, ledger);
        }
      }
    } catch (WakeupException _) {
      // Closed.
    } catch (IOException | RuntimeException e) {
      failure = e;
    }
  }

  /**
   * The key is the ID as it was published; the one in the JSON is escaped for people. What is no
   * outcome, but says which store an instance uses, is passed over.
   */
  static void note(ConsumerRecord<byte[], byte[]> message, Ledger ledger) throws IOException {
    if (message.headers().lastHeader(PRESENCE) != null) {
      return;
    }
    String id = message.key() == null ? "" : new String(message.key(), StandardCharsets.UTF_8);
    JsonNode json = JSON.readTree(message.value());
    ledger.outcome(
        id, json.path("outcome").asText(), json.path("zone").asText(), json.path("token").asLong());
  }
}
