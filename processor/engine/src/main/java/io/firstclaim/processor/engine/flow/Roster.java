package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.Lease;
import io.firstclaim.lock.OneLine;
import io.firstclaim.processor.engine.api.HeldRecord;
import io.firstclaim.processor.engine.api.Page;
import io.firstclaim.processor.engine.api.ParkedRecord;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Which records this instance has, page by page: those under a lease, and those that wait. It is
 * made when it is asked for, from their states; records have nothing to report for it but what they
 * are doing. Those whose turn has not come, where records are ordered, and twins, which have
 * nothing but their offset, are not in it. Thread-safe.
 */
public final class Roster {
  /** The most items of a page. */
  static final int MAX_LIMIT = 1000;

  private static final Pattern KEY = Pattern.compile("([a-zA-Z0-9._-]+)/(\\d{1,9})/(\\d{1,18})");
  private static final Comparator<Entry<?>> BY_PLACE =
      Comparator.comparing(Entry::place, Place.ORDER);

  private final RecordsInFlight records;

  /** A roster of these records. */
  public Roster(RecordsInFlight records) {
    this.records = records;
  }

  private record Place(String topic, int partition, long offset) {
    static final Comparator<Place> ORDER =
        Comparator.comparing(Place::topic)
            .thenComparingInt(Place::partition)
            .thenComparingLong(Place::offset);

    static Place of(RecordInFlight record) {
      ConsumerRecord<?, ?> polled = record.delivery().record();
      return new Place(polled.topic(), polled.partition(), polled.offset());
    }

    static Place parse(String key) {
      Matcher parts = KEY.matcher(key);
      if (!parts.matches()) {
        throw new IllegalArgumentException(
            "'after' is to be what the page before gave as 'next': topic/partition/offset");
      }
      return new Place(
          parts.group(1), Integer.parseInt(parts.group(2)), Long.parseLong(parts.group(3)));
    }

    String key() {
      return topic + "/" + partition + "/" + offset;
    }
  }

  private record Entry<T>(Place place, T item) {}

  /** Those under a lease. */
  public Page<HeldRecord> held(int limit, @Nullable String after) {
    return page(limit, after, Roster::heldBy);
  }

  /** Those that wait. */
  public Page<ParkedRecord> parked(int limit, @Nullable String after) {
    return page(limit, after, Roster::parkedAt);
  }

  private <T> Page<T> page(
      int limit, @Nullable String after, Function<RecordInFlight, Stream<Entry<T>>> of) {
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new IllegalArgumentException("'limit' is %d; give 1 to %d".formatted(limit, MAX_LIMIT));
    }
    Place start = after == null ? null : Place.parse(after);
    List<Entry<T>> found =
        records.all().stream()
            .flatMap(of)
            .filter(entry -> start == null || Place.ORDER.compare(entry.place, start) > 0)
            .sorted(BY_PLACE)
            .limit(limit + 1L)
            .toList();
    boolean more = found.size() > limit;
    List<Entry<T>> items = more ? found.subList(0, limit) : found;
    return new Page<>(
        items.stream().map(Entry::item).toList(),
        more ? Optional.of(items.getLast().place.key()) : Optional.empty());
  }

  private static Stream<Entry<HeldRecord>> heldBy(RecordInFlight record) {
    if (!(record.state() instanceof State.Granted granted)) {
      return Stream.empty();
    }
    Lease lease = granted.answer().lease();
    Place at = Place.of(record);
    return Stream.of(
        new Entry<>(
            at,
            new HeldRecord(
                record.id().text(),
                at.topic,
                at.partition,
                at.offset,
                lease.start().wall(),
                lease.token(),
                lease.attempt())));
  }

  private static Stream<Entry<ParkedRecord>> parkedAt(RecordInFlight record) {
    return Stream.concat(Stream.of(record), record.followers().stream())
        .flatMap(
            each ->
                each.state() instanceof State.Waiting waiting
                    ? Stream.of(parked(each, waiting))
                    : Stream.empty());
  }

  private static Entry<ParkedRecord> parked(RecordInFlight record, State.Waiting waiting) {
    Place at = Place.of(record);
    String by = waiting.by();
    return new Entry<>(
        at,
        new ParkedRecord(
            record.id().text(),
            at.topic,
            at.partition,
            at.offset,
            record.arrival().wall(),
            waiting.what(),
            Optional.ofNullable(waiting.until()),
            Optional.ofNullable(by == null ? null : OneLine.of(by))));
  }
}
