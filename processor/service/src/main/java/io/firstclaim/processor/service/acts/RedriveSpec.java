package io.firstclaim.processor.service.acts;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which dead letters a redrive takes, when and how fast.
 *
 * @param topic the input topic that their records came from; null for any, if it is for one record
 *     or for those of a list
 * @param record the printable ID of the only record that it is for, if so
 * @param ids the printable IDs of the only records that it is for, sorted; null for any
 * @param cause what the cause contains; null for any
 * @param since the first moment at which they were written, in ISO 8601; null for any
 * @param until the moment before which they were written; null for any
 * @param limit how many records are moved at most
 * @param rate how many are moved in a second at most
 * @param delay how long after its beginning it moves the first, in ISO 8601; null for at once
 * @param mayBeDone whether the record is moved although the lock store has forgotten it, and nobody
 *     knows what became of it since it died; only for one record
 * @param ranges where they are, as it was when the redrive began; in the order in which they are
 *     read
 */
public record RedriveSpec(
    @Nullable String topic,
    @Nullable String record,
    @Nullable List<String> ids,
    @Nullable String cause,
    @Nullable String since,
    @Nullable String until,
    int limit,
    int rate,
    @Nullable String delay,
    boolean mayBeDone,
    List<Range> ranges) {
  /** How many IDs a redrive may be for: with the longest, a third of what a broker takes. */
  public static final int MOST_IDS = 100;

  /** The rate where one record is redriven: it bounds nothing, as there is only one to move. */
  private static final int RATE_OF_ONE = 1_000;

  /**
   * Keeps copies.
   *
   * @throws IllegalArgumentException if limit or rate is not positive, or there are too many IDs or
   *     none, or what may be done is not one record
   * @throws DateTimeException if a moment or the delay is none
   */
  public RedriveSpec {
    ranges = List.copyOf(ranges);
    ids = ids == null ? null : ids.stream().distinct().sorted().toList();
    if (limit < 1 || rate < 1) {
      throw new IllegalArgumentException(
          "a redrive of at most %d, %d a second, moves nothing".formatted(limit, rate));
    }
    if (ids != null && (ids.isEmpty() || ids.size() > MOST_IDS)) {
      throw new IllegalArgumentException(
          "a redrive is for 1 to %d IDs, not for %d".formatted(MOST_IDS, ids.size()));
    }
    if (mayBeDone && record == null) {
      throw new IllegalArgumentException("what is forgotten is redriven one by one");
    }
    requireMoment(since);
    requireMoment(until);
    var _ = delay == null ? null : Duration.parse(delay);
  }

  /** A redrive of one record, by its printable ID, in ranges that are to be found. */
  public static RedriveSpec ofRecord(String record) {
    return new RedriveSpec(
        null, record, null, null, null, null, 1, RATE_OF_ONE, null, false, List.of());
  }

  /** The records that pass this filter, in ranges that are to be found. */
  public static RedriveSpec ofFilter(
      String topic,
      @Nullable String cause,
      @Nullable String since,
      @Nullable String until,
      int limit,
      int rate) {
    return new RedriveSpec(
        topic, null, null, cause, since, until, limit, rate, null, false, List.of());
  }

  /** A redrive of these records, by their printable IDs, in ranges that are to be found. */
  public static RedriveSpec ofIds(List<String> ids, int rate) {
    return new RedriveSpec(
        null, null, ids, null, null, null, Math.max(1, ids.size()), rate, null, false, List.of());
  }

  private static void requireMoment(@Nullable String text) {
    var _ = text == null ? null : Instant.parse(text);
  }

  /** Whether it is for records that were named, and not for all that pass a filter. */
  public boolean namesRecords() {
    return record != null || ids != null;
  }

  /** Whether it asks for the same, wherever the topics end by now. */
  public boolean asksFor(RedriveSpec other) {
    return withoutRanges().equals(other.withoutRanges());
  }

  private RedriveSpec withoutRanges() {
    return withRanges(List.of());
  }

  /** This spec with these ranges. */
  public RedriveSpec withRanges(List<Range> found) {
    return new RedriveSpec(
        topic, record, ids, cause, since, until, limit, rate, delay, mayBeDone, found);
  }

  /** This spec, which begins so long after it was asked for; null for at once. */
  public RedriveSpec withDelay(@Nullable Duration time) {
    return new RedriveSpec(
        topic,
        record,
        ids,
        cause,
        since,
        until,
        limit,
        rate,
        time == null ? null : time.toString(),
        mayBeDone,
        ranges);
  }

  /** This spec, of a record of which nobody knows whether it is done since. */
  public RedriveSpec thatMayBeDone() {
    return new RedriveSpec(
        topic, record, ids, cause, since, until, limit, rate, delay, true, ranges);
  }
}
