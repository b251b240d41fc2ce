package io.firstclaim.processor.audit.topology;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.audit.api.AuditSettings;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.WindowStore;

/**
 * The topology: outcomes are judged, what is found goes to the violations topic, and what is known
 * stands in stores of the outcomes' own partitions.
 *
 * <p>Its shape and the form of its values have one version. Whoever changes either raises it: the
 * application ID then ends in it, so that the audit begins anew with stores of its own and reads
 * the outcomes topic from its beginning, instead of taking the old state for its own.
 */
public final class OutcomesTopology {
  /** The version of the shape, and of the values in the stores. */
  static final int VERSION = 1;

  /** The name of the source. */
  static final String OUTCOMES = "outcomes";

  /** The name of the sink. */
  static final String VIOLATIONS = "violations-topic";

  private static final String JUDGE = "judge";

  private OutcomesTopology() {}

  /** The application ID of a zone's audit, which names its group, its state and its topics. */
  public static String applicationId(String application, String zone) {
    String id = application + "-audit-" + zone;
    return VERSION == 1 ? id : id + "-v" + VERSION;
  }

  /**
   * The topology.
   *
   * @param store the identity of the lock store whose outcomes count
   */
  public static Topology of(AuditSettings settings, String store, TimeSource time) {
    return new Topology()
        .addSource(
            AutoOffsetReset.earliest(),
            OUTCOMES,
            new StreamTime(time),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer(),
            settings.outcomesTopic())
        .addProcessor(JUDGE, () -> new Judge(settings, store), OUTCOMES)
        .addStateStore(records(settings.retention()), JUDGE)
        .addStateStore(minutes(), JUDGE)
        .addStateStore(table(Stores.OPEN), JUDGE)
        .addStateStore(table(Stores.DEAD), JUDGE)
        .addStateStore(table(Stores.VIOLATIONS), JUDGE)
        .addSink(
            VIOLATIONS,
            settings.violationsTopic(),
            new ByteArraySerializer(),
            new ByteArraySerializer(),
            JUDGE);
  }

  /** The last bucket of a record may begin a bucket before its last outcome. */
  private static StoreBuilder<WindowStore<byte[], byte[]>> records(Duration retention) {
    Duration bucket = Stores.bucket(retention);
    return windows(Stores.RECORDS, bucket.multipliedBy(3), bucket).withCachingDisabled();
  }

  private static StoreBuilder<WindowStore<byte[], byte[]>> minutes() {
    return windows(Stores.MINUTES, Stores.MINUTES_KEPT, Stores.MINUTE).withCachingEnabled();
  }

  private static StoreBuilder<WindowStore<byte[], byte[]>> windows(
      String name, Duration kept, Duration window) {
    Serde<byte[]> bytes = Serdes.ByteArray();
    return org.apache.kafka.streams.state.Stores.windowStoreBuilder(
            org.apache.kafka.streams.state.Stores.persistentWindowStore(name, kept, window, false),
            bytes,
            bytes)
        .withLoggingEnabled(Map.of());
  }

  private static StoreBuilder<KeyValueStore<byte[], byte[]>> table(String name) {
    Serde<byte[]> bytes = Serdes.ByteArray();
    return org.apache.kafka.streams.state.Stores.keyValueStoreBuilder(
            org.apache.kafka.streams.state.Stores.persistentKeyValueStore(name), bytes, bytes)
        .withLoggingEnabled(Map.of())
        .withCachingDisabled();
  }
}
