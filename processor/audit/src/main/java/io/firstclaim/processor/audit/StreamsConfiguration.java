package io.firstclaim.processor.audit;

import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.audit.topology.BoundedMemory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.streams.StreamsConfig;

/** What Kafka Streams is given: what the settings pass through, below what the audit rests on. */
final class StreamsConfiguration {
  /** Settings that are meant for the engine's clients, or are Kafka Streams' own business. */
  private static final List<String> NOT_OURS =
      List.of("group.", "max.poll.", "key.", "value.", "transaction.", "transactional.");

  private static final Set<String> NEITHER =
      Set.of(
          "acks",
          "auto.offset.reset",
          "client.id",
          "enable.auto.commit",
          "enable.idempotence",
          "isolation.level",
          "partition.assignment.strategy",
          "partitioner.class");

  private static final int CACHE = 4 << 20;

  /** A violation is told a second later at most; every commit is a transaction. */
  private static final int COMMIT_EVERY_MILLIS = 1_000;

  private StreamsConfiguration() {}

  static Properties of(AuditSettings settings, String applicationId) {
    Map<String, Object> config = new HashMap<>(clients(settings));
    config.put(StreamsConfig.APPLICATION_ID_CONFIG, applicationId);
    config.put(StreamsConfig.APPLICATION_SERVER_CONFIG, settings.address().toString());
    config.put(StreamsConfig.STATE_DIR_CONFIG, settings.directory().toString());
    config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    config.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, true);
    // The default of versions to come; until then, Kafka Streams asks for a word on it.
    config.put("processing.exception.handler.global.enabled", true);
    config.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1);
    config.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 1);
    config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, COMMIT_EVERY_MILLIS);
    config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, CACHE);
    config.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, BoundedMemory.class);
    Properties properties = new Properties();
    properties.putAll(config);
    return properties;
  }

  /** Addresses, security and limits of time. */
  static Map<String, Object> clients(AuditSettings settings) {
    Map<String, Object> config = new HashMap<>(settings.kafka());
    config
        .keySet()
        .removeIf(key -> NEITHER.contains(key) || NOT_OURS.stream().anyMatch(key::startsWith));
    return config;
  }
}
