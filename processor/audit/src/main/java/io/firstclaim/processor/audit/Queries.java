package io.firstclaim.processor.audit;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.audit.api.Coverage;
import io.firstclaim.processor.audit.api.Listing;
import io.firstclaim.processor.audit.api.Minute;
import io.firstclaim.processor.audit.topology.MinuteRows;
import io.firstclaim.processor.audit.topology.Stores;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.ThreadMetadata;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.ReadOnlyWindowStore;
import org.jspecify.annotations.Nullable;

/** Reads the stores of this instance's partitions. */
final class Queries {
  private Queries() {}

  /** A store of one partition. */
  static ReadOnlyWindowStore<byte[], byte[]> windows(
      KafkaStreams streams, String store, int partition) {
    return streams.store(
        StoreQueryParameters.fromNameAndType(
                store, QueryableStoreTypes.<byte[], byte[]>windowStore())
            .withPartition(partition));
  }

  private static ReadOnlyKeyValueStore<byte[], byte[]> table(
      KafkaStreams streams, String store, int partition) {
    return streams.store(
        StoreQueryParameters.fromNameAndType(
                store, QueryableStoreTypes.<byte[], byte[]>keyValueStore())
            .withPartition(partition));
  }

  /** The partitions of this instance. */
  private static List<Integer> partitions(KafkaStreams streams) {
    return streams.metadataForLocalThreads().stream()
        .map(ThreadMetadata::activeTasks)
        .flatMap(tasks -> tasks.stream().flatMap(task -> task.topicPartitions().stream()))
        .map(TopicPartition::partition)
        .distinct()
        .sorted()
        .toList();
  }

  /**
   * Which partitions this instance has, and who has the others.
   *
   * @param count how many partitions the outcomes topic has
   */
  static Coverage coverage(KafkaStreams streams, AuditSettings settings, int count) {
    SortedSet<Integer> own = new TreeSet<>(partitions(streams));
    List<Coverage.Part> others =
        streams.streamsMetadataForStore(Stores.RECORDS).stream()
            .map(
                each ->
                    new Coverage.Part(
                        new Address(each.host(), each.port()),
                        each.topicPartitions().stream()
                            .map(TopicPartition::partition)
                            .collect(Collectors.toCollection(TreeSet::new))))
            .filter(each -> !each.address().equals(settings.address()))
            .filter(each -> !each.partitions().isEmpty())
            .sorted(Comparator.comparing(each -> each.address().toString()))
            .toList();
    SortedSet<Integer> missing =
        IntStream.range(0, count).boxed().collect(Collectors.toCollection(TreeSet::new));
    missing.removeAll(own);
    others.forEach(each -> missing.removeAll(each.partitions()));
    return new Coverage(
        own,
        others,
        missing.isEmpty()
            ? Optional.empty()
            : Optional.of(
                "partitions %s of %s are being handed out; or another instance of zone %s has them and announces the address of this one, %s, too: then give each its own firstclaim.audit.address"
                    .formatted(
                        missing, settings.outcomesTopic(), settings.zone(), settings.address())));
  }

  /**
   * The matches of one partition.
   *
   * @param upTo the last ID that was looked at; null if all were
   */
  private record Part<T>(TreeMap<RecordId, T> matches, int lookedAt, @Nullable RecordId upTo) {}

  /** Opens the rows of a partition, from this ID on. */
  @FunctionalInterface
  interface Source {
    /** Opens them. */
    Rows open(int partition, Optional<RecordId> from);
  }

  /** The rows of a list. */
  static Source list(KafkaStreams streams, String store) {
    return (partition, from) ->
        Rows.of(
            table(streams, store, partition).range(from.map(RecordId::bytes).orElse(null), null));
  }

  /**
   * The records whose IDs begin with this.
   *
   * @param buckets in which they stand
   */
  static Source records(KafkaStreams streams, List<Instant> buckets, byte[] prefix) {
    return (partition, from) -> {
      ReadOnlyWindowStore<byte[], byte[]> records = windows(streams, Stores.RECORDS, partition);
      byte[] begin =
          from.map(RecordId::bytes)
              .filter(id -> Arrays.compareUnsigned(id, prefix) > 0)
              .orElse(prefix);
      List<KeyValueIterator<Windowed<byte[]>, byte[]>> open = new ArrayList<>();
      for (Instant bucket : buckets) {
        open.add(records.fetch(begin.length == 0 ? null : begin, null, bucket, bucket));
      }
      return Rows.of(open, prefix);
    };
  }

  /**
   * A page of what the reader takes, over this instance's partitions, sorted by ID.
   *
   * @param atMost how many rows are looked at in each partition
   */
  static <T> Listing<T> page(
      Source source,
      Coverage coverage,
      BiFunction<RecordId, byte[], Optional<T>> reader,
      int atMost,
      int limit,
      Optional<RecordId> after) {
    List<Part<T>> parts =
        coverage.own().stream()
            .map(
                partition -> {
                  try (Rows rows = source.open(partition, after)) {
                    return part(rows, reader, atMost, limit, after);
                  }
                })
            .toList();
    Optional<RecordId> horizon =
        parts.stream().flatMap(part -> Stream.ofNullable(part.upTo)).min(Comparator.naturalOrder());
    TreeMap<RecordId, T> all = new TreeMap<>();
    parts.forEach(part -> all.putAll(part.matches));
    List<T> items = new ArrayList<>();
    Optional<RecordId> next = horizon;
    for (Map.Entry<RecordId, T> match : all.entrySet()) {
      if (horizon.isPresent() && match.getKey().compareTo(horizon.get()) > 0) {
        break;
      }
      items.add(match.getValue());
      if (items.size() == limit) {
        next = all.lastKey().equals(match.getKey()) ? horizon : Optional.of(match.getKey());
        break;
      }
    }
    return new Listing<>(items, next, parts.stream().mapToInt(Part::lookedAt).sum(), coverage);
  }

  /** As many matches as a page has, and one more to know whether there is a next page. */
  private static <T> Part<T> part(
      Rows rows,
      BiFunction<RecordId, byte[], Optional<T>> reader,
      int atMost,
      int limit,
      Optional<RecordId> after) {
    TreeMap<RecordId, T> matches = new TreeMap<>();
    int lookedAt = 0;
    for (Rows.Row row = rows.next(); row != null; row = rows.next()) {
      RecordId id = row.id();
      if (after.filter(id::equals).isPresent()) {
        continue;
      }
      lookedAt++;
      reader.apply(id, row.value()).ifPresent(match -> matches.put(id, match));
      if (matches.size() > limit || lookedAt == atMost) {
        return new Part<>(matches, lookedAt, id);
      }
    }
    return new Part<>(matches, lookedAt, null);
  }

  /** The rows of these minutes, of all partitions together. */
  static List<Minute> minutes(KafkaStreams streams, Instant from, Instant to) {
    MinuteRows rows = new MinuteRows();
    for (int partition : partitions(streams)) {
      rows.add(windows(streams, Stores.MINUTES, partition).fetchAll(from, to));
    }
    return rows.list();
  }
}
