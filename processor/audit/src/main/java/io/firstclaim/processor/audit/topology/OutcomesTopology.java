package io.firstclaim.processor.audit.topology;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.audit.api.AuditSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.WindowStore;

/**
 * The topology: outcomes are judged, what is found goes to the violations topic, and what is known
 * stands in stores of the outcomes' own partitions.
 *
 * <p>An ID has its outcomes in the partition that its hash says, among as many as there are. Where
 * the topic was given more partitions, it has some in another: those strays go to where the ID
 * belongs by a topic of the audit's own, so that each history stays whole.
 *
 * <p>Its shape and the form of its values have one version. Whoever changes either raises it: the
 * application ID then ends in it, so that the audit begins anew with stores of its own and reads
 * the outcomes topic from its beginning, instead of taking the old state for its own.
 */
public final class OutcomesTopology {
  /** The version of the shape, and of the values in the stores. */
  static final int VERSION = 1;

  private static final String JUDGE = "judge";

  private static final String STRAYS = "strays";

  private static final Serde<byte[]> BYTES = Serdes.ByteArray();

  private OutcomesTopology() {}

  /** The application ID of a zone's audit, which names its group, its state and its topics. */
  public static String applicationId(String application, String zone) {
    String id = application + "-audit-" + zone;
    return VERSION == 1 ? id : id + "-v" + VERSION;
  }

  /**
   * The application ID of an audit that was begun anew when the outcomes topic had other partitions
   * than its state: so many.
   */
  public static String applicationId(String application, String zone, int partitions) {
    // No zone has a dot, so this is no ID of another zone.
    return applicationId(application, zone) + ".p" + partitions;
  }

  /** A topic that tells by its partitions how many the audit of this application ID began with. */
  public static String changelog(String applicationId) {
    return changelog(applicationId, Stores.OPEN);
  }

  private static String changelog(String applicationId, String store) {
    return applicationId + "-" + store + "-changelog";
  }

  /** The topics that Kafka Streams makes for the audit of this application ID. */
  public static List<String> topics(String applicationId) {
    return Stream.concat(
            Stream.of(Stores.RECORDS, Stores.MINUTES, Stores.OPEN, Stores.DEAD, Stores.VIOLATIONS)
                .map(store -> changelog(applicationId, store)),
            Stream.of(applicationId + "-" + STRAYS + "-repartition"))
        .toList();
  }

  /**
   * The topology.
   *
   * @param store the identity of the lock store whose outcomes count
   * @param partitions how many the outcomes topic has
   */
  public static Topology of(AuditSettings settings, String store, TimeSource time, int partitions) {
    StreamsBuilder builder = new StreamsBuilder();
    StreamsBuilder _ =
        builder
            .addStateStore(records(settings.retention()))
            .addStateStore(minutes())
            .addStateStore(table(Stores.OPEN))
            .addStateStore(table(Stores.DEAD))
            .addStateStore(table(Stores.VIOLATIONS));
    KStream<byte[], byte[]> outcomes =
        builder.stream(
            settings.outcomesTopic(),
            Consumed.with(BYTES, BYTES)
                .withTimestampExtractor(new StreamTime(time))
                .withOffsetResetPolicy(AutoOffsetReset.earliest())
                .withName("outcomes"));
    KStream<byte[], byte[]> strays =
        outcomes
            .process(() -> new Sorter(Sorter.Takes.STRAYS, partitions), Named.as("sort-strays"))
            .repartition(
                Repartitioned.<byte[], byte[]>as(STRAYS)
                    .withKeySerde(BYTES)
                    .withValueSerde(BYTES)
                    .withNumberOfPartitions(partitions)
                    .withStreamPartitioner(
                        (topic, id, value, count) ->
                            Optional.of(Set.of(Sorter.partitionOf(id, count)))));
    outcomes
        .process(() -> new Sorter(Sorter.Takes.THE_REST, partitions), Named.as("sort"))
        .merge(strays, Named.as("all"))
        .process(
            () -> new Judge(settings, store),
            Named.as(JUDGE),
            Stores.RECORDS,
            Stores.MINUTES,
            Stores.OPEN,
            Stores.DEAD,
            Stores.VIOLATIONS)
        .to(settings.violationsTopic(), Produced.with(BYTES, BYTES).withName("violations-topic"));
    return builder.build();
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
    return org.apache.kafka.streams.state.Stores.windowStoreBuilder(
            org.apache.kafka.streams.state.Stores.persistentWindowStore(name, kept, window, false),
            BYTES,
            BYTES)
        .withLoggingEnabled(Map.of());
  }

  private static StoreBuilder<KeyValueStore<byte[], byte[]>> table(String name) {
    return org.apache.kafka.streams.state.Stores.keyValueStoreBuilder(
            org.apache.kafka.streams.state.Stores.persistentKeyValueStore(name), BYTES, BYTES)
        .withLoggingEnabled(Map.of())
        .withCachingDisabled();
  }
}
