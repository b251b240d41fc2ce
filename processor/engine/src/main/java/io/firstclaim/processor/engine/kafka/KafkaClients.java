package io.firstclaim.processor.engine.kafka;

import io.firstclaim.processor.engine.api.EngineSettings;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Utils;

/**
 * The Kafka clients of an instance: what the settings pass through, on top of suitable defaults and
 * below what correctness depends on.
 */
public final class KafkaClients implements Clients {
  /** How long a producer tries; its callers wait a little longer. */
  private static final Duration ACKNOWLEDGED_WITHIN = Duration.ofSeconds(30);

  /**
   * How long a record waits, with its permit, to hand its outcome over: where the topic is gone, or
   * no broker takes anything. Outcomes only inform, so it then goes on without.
   */
  private static final Duration OUTCOMES_HANDED_OVER_WITHIN = Duration.ofSeconds(5);

  /**
   * Well within the shortest head start, 100 ms, by the end of which the other zone should have
   * heard. At a thousand records a second, each cycle of producer and readers costs more than all
   * that is in it, so there are few.
   */
  private static final Duration OUTCOMES_LINGER = Duration.ofMillis(50);

  /**
   * Outcomes are all alike, so a large batch of them shrinks to a fifth, which brokers keep and all
   * zones read. Where this codec's native code cannot be loaded, it has Java code.
   */
  private static final String OUTCOMES_COMPRESSION = "lz4";

  private static final int MAX_REQUEST = 16 << 20;
  private static final int BATCH = 128 << 10;
  private static final int A_MEGABYTE = 1 << 20;
  private static final int LEAST_FETCH = 64 << 10;

  /**
   * How soon a partition that was added is seen: before producers, which look every five minutes,
   * write to it.
   */
  private static final Duration PARTITIONS_SEEN_WITHIN = Duration.ofSeconds(30);

  private final EngineSettings settings;
  private final TopicIds topicIds;

  /** The clients for these settings. */
  public KafkaClients(EngineSettings settings) {
    this.settings = settings;
    this.topicIds = new TopicIds(this::admin, settings.input().topics());
  }

  @Override
  public TopicIds topicIds() {
    return topicIds;
  }

  private String bootstrapServers() {
    return String.valueOf(
        settings.kafka().getOrDefault(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, ""));
  }

  @Override
  public boolean hasAddress() {
    for (String server : bootstrapServers().split(",", -1)) {
      String host = Utils.getHost(server.strip());
      if (host == null || hasAddress(host)) {
        return true;
      }
    }
    return false;
  }

  private static boolean hasAddress(String host) {
    try {
      return InetAddress.getAllByName(host).length > 0;
    } catch (UnknownHostException e) {
      return false;
    }
  }

  @Override
  public Consumer<byte[], byte[]> input() {
    Map<String, Object> config = new HashMap<>();
    config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    config.putAll(fetching(settings.input().maxBuffered()));
    boolean classic =
        !"consumer"
            .equals(
                String.valueOf(settings.kafka().get(ConsumerConfig.GROUP_PROTOCOL_CONFIG))
                    .toLowerCase(Locale.ROOT));
    if (classic) {
      // With KIP-848 the broker assigns, incrementally anyway, and refuses this setting.
      config.put(
          ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
          CooperativeStickyAssignor.class.getName());
    }
    config.putAll(settings.kafka());
    config.put(ConsumerConfig.GROUP_ID_CONFIG, settings.input().group());
    config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /**
   * What the consumer may fetch, and hand over at once, for records of so many bytes in memory. A
   * poll of records of 1 MB, Kafka's own limit for a batch, brings no more than that, however well
   * they were compressed; what is fetched ahead is a part of it for each broker and partition.
   */
  static Map<String, Object> fetching(long maxBuffered) {
    return Map.of(
        ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
        Math.clamp(maxBuffered / A_MEGABYTE, 1, ConsumerConfig.DEFAULT_MAX_POLL_RECORDS),
        ConsumerConfig.FETCH_MAX_BYTES_CONFIG,
        Math.clamp(maxBuffered / 4, A_MEGABYTE, ConsumerConfig.DEFAULT_FETCH_MAX_BYTES),
        ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG,
        Math.clamp(maxBuffered / 16, LEAST_FETCH, A_MEGABYTE));
  }

  @Override
  public Consumer<byte[], byte[]> outcomes() {
    return withoutGroup("latest");
  }

  /** A consumer without a group, which goes on with the oldest record where its offset is gone. */
  public Consumer<byte[], byte[]> reader() {
    return withoutGroup("earliest");
  }

  private Consumer<byte[], byte[]> withoutGroup(String whereTheOffsetIsGone) {
    Map<String, Object> config = new HashMap<>(settings.kafka());
    config.keySet().removeIf(key -> key.startsWith("group.") || key.startsWith("max.poll."));
    config.remove(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG);
    config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, whereTheOffsetIsGone);
    config.putIfAbsent(
        ConsumerConfig.METADATA_MAX_AGE_CONFIG, (int) PARTITIONS_SEEN_WITHIN.toMillis());
    config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  @Override
  public Producer<byte[], byte[]> producer() {
    return producer(Duration.ofMillis(5), "none", ACKNOWLEDGED_WITHIN);
  }

  @Override
  public Producer<byte[], byte[]> outcomesProducer() {
    return producer(OUTCOMES_LINGER, OUTCOMES_COMPRESSION, OUTCOMES_HANDED_OVER_WITHIN);
  }

  private Producer<byte[], byte[]> producer(
      Duration linger, String compression, Duration handedOverWithin) {
    Map<String, Object> config = new HashMap<>();
    config.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, compression);
    config.put(ProducerConfig.LINGER_MS_CONFIG, (int) linger.toMillis());
    // Nobody waits for an acknowledgement later than this, so none may come later.
    config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, (int) handedOverWithin.toMillis());
    config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) ACKNOWLEDGED_WITHIN.toMillis() / 2);
    config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, (int) ACKNOWLEDGED_WITHIN.toMillis());
    config.put(ProducerConfig.BATCH_SIZE_CONFIG, BATCH);
    // A record that came in must fit going out, with a few more headers; the topic has the last
    // word.
    config.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, MAX_REQUEST);
    config.putAll(settings.kafka());
    config.put(ProducerConfig.ACKS_CONFIG, "all");
    config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    config.remove(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
    return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
  }

  @Override
  public Admin admin() {
    return Admin.create(new HashMap<>(settings.kafka()));
  }
}
