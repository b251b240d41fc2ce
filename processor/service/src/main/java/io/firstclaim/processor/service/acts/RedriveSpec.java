package io.firstclaim.processor.service.acts;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which dead letters a redrive takes, and how fast.
 *
 * @param topic the input topic that their records came from; null for any, if it is for one record
 * @param record the printable ID of the only record that it is for, if so
 * @param cause what the cause contains; null for any
 * @param since the first moment at which they were written, in ISO 8601; null for any
 * @param until the moment before which they were written; null for any
 * @param limit how many records are moved at most
 * @param rate how many are moved in a second at most
 * @param ranges where they are, as it was when the redrive began; in the order in which they are
 *     read
 */
public record RedriveSpec(
    @Nullable String topic,
    @Nullable String record,
    @Nullable String cause,
    @Nullable String since,
    @Nullable String until,
    int limit,
    int rate,
    List<Range> ranges) {
  /** It bounds nothing: there is only one to move. */
  private static final int RATE_OF_ONE = 1_000;

  /**
   * Keeps a copy.
   *
   * @throws IllegalArgumentException if limit or rate is not positive
   * @throws DateTimeException if a moment is none
   */
  public RedriveSpec {
    ranges = List.copyOf(ranges);
    if (limit < 1 || rate < 1) {
      throw new IllegalArgumentException(
          "a redrive of at most %d, %d a second, moves nothing".formatted(limit, rate));
    }
    requireMoment(since);
    requireMoment(until);
  }

  /** One record, by its printable ID, in these ranges. */
  public static RedriveSpec ofRecord(String record, List<Range> ranges) {
    return new RedriveSpec(null, record, null, null, null, 1, RATE_OF_ONE, ranges);
  }

  private static void requireMoment(@Nullable String text) {
    var _ = text == null ? null : Instant.parse(text);
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
    return new RedriveSpec(topic, record, cause, since, until, limit, rate, found);
  }
}
