package io.firstclaim.processor.service.handler;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The producer of the {@link TopicHandler}, and a new one when the old one has become unusable: the
 * settings of the Kafka clients, on top of suitable defaults and below what keeps anything from
 * being lost. Thread-safe.
 */
public final class TopicProducer implements AutoCloseable {
  /** How long it tries; its callers wait a little longer. */
  public static final Duration ACKNOWLEDGED_WITHIN = Duration.ofSeconds(30);

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);
  private static final int MAX_REQUEST = 16 << 20;

  private final Supplier<Producer<byte[], byte[]>> maker;
  private volatile Producer<byte[], byte[]> producer;
  private boolean closed;

  /**
   * A producer that connects to Kafka.
   *
   * @param kafka settings that are passed to it as they are
   * @param opened is told of each producer that is made
   */
  public TopicProducer(Map<String, Object> kafka, Consumer<Producer<?, ?>> opened) {
    this(
        () -> {
          Producer<byte[], byte[]> made = connected(kafka);
          opened.accept(made);
          return made;
        });
  }

  /** The producers that this makes; the first one at once. */
  TopicProducer(Supplier<Producer<byte[], byte[]>> maker) {
    this.maker = maker;
    this.producer = maker.get();
  }

  private static Producer<byte[], byte[]> connected(Map<String, Object> kafka) {
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
    return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** The producer to send with now. */
  Producer<byte[], byte[]> get() {
    return producer;
  }

  /**
   * Makes a new producer in the place of one that sends nothing any more, unless that was replaced
   * already. What the old one has under way has a few seconds to end.
   */
  void replace(Producer<byte[], byte[]> unusable) {
    synchronized (this) {
      if (closed || !producer.equals(unusable)) {
        return;
      }
      producer = maker.get();
    }
    Thread _ = Thread.startVirtualThread(() -> unusable.close(CLOSE_LIMIT));
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    producer.close(CLOSE_LIMIT);
  }
}
