package io.firstclaim.processor.service.handler;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The producer of the {@link TopicHandler}: the settings of the Kafka clients, on top of suitable
 * defaults and below what keeps anything from being lost. Thread-safe.
 */
public final class TopicProducer implements AutoCloseable {
  /** How long it tries; its callers wait a little longer. */
  public static final Duration ACKNOWLEDGED_WITHIN = Duration.ofSeconds(30);

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);
  private static final int MAX_REQUEST = 16 << 20;

  private final Producer<byte[], byte[]> producer;

  /**
   * A producer that connects to Kafka.
   *
   * @param kafka settings that are passed to it as they are
   */
  public TopicProducer(Map<String, Object> kafka) {
    int limit = (int) ACKNOWLEDGED_WITHIN.toMillis();
    Map<String, Object> config = new HashMap<>();
    config.put(ProducerConfig.LINGER_MS_CONFIG, 5);
    // Nobody waits for an acknowledgement later than this, so none may come later.
    config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, limit);
    config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, limit / 2);
    config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, limit);
    // A record that came in must fit going out; the topic has the last word.
    config.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, MAX_REQUEST);
    config.putAll(kafka);
    config.put(ProducerConfig.ACKS_CONFIG, "all");
    config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    config.remove(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
    producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** The producer itself. */
  public Producer<byte[], byte[]> get() {
    return producer;
  }

  @Override
  public void close() {
    producer.close(CLOSE_LIMIT);
  }
}
