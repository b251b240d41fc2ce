package io.firstclaim.processor.audit.topology;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.audit.api.Dead;
import io.firstclaim.processor.audit.api.Latencies;
import io.firstclaim.processor.audit.api.Minute;
import io.firstclaim.processor.audit.api.Stuck;
import io.firstclaim.processor.audit.api.Violation;
import io.firstclaim.processor.audit.api.ViolationKind;
import io.firstclaim.processor.engine.api.Outcome;
import java.io.DataInputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.streams.state.ReadOnlyWindowStore;
import org.jspecify.annotations.Nullable;

/**
 * What stands in which store, and how it is read, by the topology and by those who ask.
 *
 * <p>A record's state stands in the bucket of the time at which it changed last, and is carried
 * from there into the next: so a store drops whole files of what is older than the retention, and
 * nobody looks for records to delete.
 */
public final class Stores {
  /** Records by ID and bucket. */
  public static final String RECORDS = "records";

  /** Minutes by zone. */
  public static final String MINUTES = "minutes";

  /** Records begun and not settled, by ID. */
  public static final String OPEN = "open";

  /** Records given up, by ID. */
  public static final String DEAD = "dead";

  /** What must not have happened, by ID: the latest of each record. */
  public static final String VIOLATIONS = "violations";

  /** How long minutes are kept. */
  static final Duration MINUTES_KEPT = Duration.ofDays(7);

  static final Duration MINUTE = Duration.ofMinutes(1);

  private Stores() {}

  /** How long a bucket is: two cover the retention. */
  static Duration bucket(Duration retention) {
    Duration half = retention.dividedBy(2);
    return half.compareTo(MINUTE) < 0 ? MINUTE : half;
  }

  /** The beginning of the bucket that holds this time, in milliseconds. */
  static long bucketOf(long time, Duration retention) {
    long length = bucket(retention).toMillis();
    return time - Math.floorMod(time, length);
  }

  /** The beginnings of the buckets that hold what is within the retention, the latest first. */
  public static List<Instant> buckets(Instant now, Duration retention) {
    long length = bucket(retention).toMillis();
    long newest = bucketOf(now.toEpochMilli(), retention);
    return Stream.of(newest, newest - length, newest - 2 * length)
        .filter(bucket -> bucket >= 0)
        .map(Instant::ofEpochMilli)
        .toList();
  }

  /** The latest outcome of a record that is wanted, if there is one. */
  public static Optional<Outcome> latest(byte[] value, Predicate<? super Outcome> wanted) {
    return RecordState.of(value).events().reversed().stream()
        .flatMap(event -> Outcome.ofJson(event.json()).stream())
        .filter(wanted)
        .findFirst();
  }

  /** The state of a record, as far as anything is known of it within the retention. */
  static RecordState record(
      ReadOnlyWindowStore<byte[], byte[]> records, byte[] id, long now, Duration retention) {
    long length = bucket(retention).toMillis();
    long newest = bucketOf(now, retention);
    for (long bucket = newest; bucket >= newest - 2 * length && bucket >= 0; bucket -= length) {
      byte[] value = records.fetch(id, bucket);
      if (value != null) {
        return RecordState.of(value);
      }
    }
    return RecordState.empty();
  }

  /** The outcomes of a record, oldest first by when they were made: strays are heard late. */
  public static List<Outcome> history(
      ReadOnlyWindowStore<byte[], byte[]> records, RecordId id, Instant now, Duration retention) {
    List<Outcome> outcomes = new ArrayList<>();
    for (RecordState.Event event :
        record(records, id.bytes(), now.toEpochMilli(), retention).events()) {
      Outcome.ofJson(event.json()).ifPresent(outcomes::add);
    }
    outcomes.sort(Comparator.comparing(Outcome::at));
    return outcomes;
  }

  /**
   * A record in one of the lists.
   *
   * @param since the beginning of what it is listed for, in milliseconds
   * @param json its last outcome
   */
  @SuppressWarnings("ArrayRecordComponent") // these are never compared
  record Listed(long since, byte[] json) {
    byte[] bytes() {
      return Form.write(
          out -> {
            out.writeLong(since);
            Form.writeBytes(out, json);
          });
    }

    static Optional<Listed> of(byte[] bytes) {
      return Form.read(bytes, in -> new Listed(in.readLong(), Form.readBytes(in)));
    }
  }

  /** When something was put on a list, in milliseconds; 0 if another version did. */
  static long time(byte[] value) {
    return Form.read(value, DataInputStream::readLong).orElse(0L);
  }

  /**
   * Whether what is listed is within the retention. It is deleted some time after, when the next
   * outcomes come.
   */
  public static boolean isKept(byte[] value, Instant now, Duration retention) {
    return time(value) >= now.toEpochMilli() - retention.toMillis();
  }

  /** The record of {@link #OPEN}, if it was begun before this time. */
  public static Optional<Stuck> stuck(RecordId id, byte[] value, Instant before) {
    return Listed.of(value)
        .filter(listed -> listed.since < before.toEpochMilli())
        .flatMap(
            listed ->
                Outcome.ofJson(listed.json)
                    .map(last -> new Stuck(id, Instant.ofEpochMilli(listed.since), last)));
  }

  /** The record of {@link #DEAD}. */
  public static Optional<Dead> dead(RecordId id, byte[] value) {
    return Listed.of(value)
        .flatMap(
            listed ->
                Outcome.ofJson(listed.json)
                    .map(last -> new Dead(id, Instant.ofEpochMilli(listed.since), last)));
  }

  static byte[] bytes(Violation violation) {
    return Form.write(
        out -> {
          out.writeLong(violation.at().toEpochMilli());
          out.writeUTF(violation.verdict().name());
          out.writeLong(violation.otherToken());
          Form.writeBytes(out, violation.outcome().json());
        });
  }

  /** The record of {@link #VIOLATIONS}. */
  public static Optional<Violation> violation(RecordId id, byte[] value) {
    return Form.read(value, in -> readViolation(id, in));
  }

  private static Violation readViolation(RecordId id, DataInputStream in) throws IOException {
    Instant at = Instant.ofEpochMilli(in.readLong());
    ViolationKind verdict = ViolationKind.valueOf(in.readUTF());
    long otherToken = in.readLong();
    Outcome outcome =
        Outcome.ofJson(Form.readBytes(in))
            .orElseThrow(() -> new IllegalArgumentException("a violation without its outcome"));
    return new Violation(id, verdict, outcome, otherToken, at);
  }

  static byte[] bytes(Minute minute) {
    return Form.write(
        out -> {
          out.writeLong(minute.completed());
          out.writeLong(minute.takeovers());
          out.writeLong(minute.failures());
          out.writeLong(minute.deadLetters());
          out.writeLong(minute.mismatches());
          out.writeLong(minute.lost());
          Form.writeBytes(out, minute.latencies().bytes());
        });
  }

  /** A row of {@link #MINUTES}; an empty one if there is none. */
  public static Minute minute(String zone, Instant start, byte @Nullable [] value) {
    Minute empty = Minute.empty(zone, start);
    return value == null
        ? empty
        : Form.read(
                value,
                in ->
                    new Minute(
                        zone,
                        start,
                        in.readLong(),
                        in.readLong(),
                        in.readLong(),
                        in.readLong(),
                        in.readLong(),
                        in.readLong(),
                        Latencies.of(Form.readBytes(in))))
            .orElse(empty);
  }
}
