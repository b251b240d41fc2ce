package io.firstclaim.processor.service.acts;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which dead letters a redrive takes, when and how fast.
 *
 * @param selection which records it is for
 * @param limit how many records are moved at most
 * @param rate how many are moved in a second at most
 * @param delay how long after its beginning it moves the first, in ISO 8601; null for at once
 * @param mayBeDone whether the record is moved although the lock store has forgotten it, and nobody
 *     knows what became of it since it died; only for one record
 * @param ranges where they are, as it was when the redrive began; in the order in which they are
 *     read
 */
public record RedriveSpec(
    @JsonUnwrapped Selection selection,
    int limit,
    int rate,
    @Nullable String delay,
    boolean mayBeDone,
    List<Range> ranges) {
  /** How many IDs a redrive may be for: with the longest, a third of what a broker takes. */
  public static final int MOST_IDS = 100;

  /** The rate where one record is redriven: it bounds nothing, as there is only one to move. */
  private static final int RATE_OF_ONE = 1_000;

  /** The records that a redrive is for. What a kind of selection does not say is null. */
  public sealed interface Selection {
    /** The input topic that they came from. */
    default @Nullable String topic() {
      return null;
    }

    /** The printable ID of the only one. */
    default @Nullable String record() {
      return null;
    }

    /** The printable IDs of the only ones. */
    default @Nullable List<String> ids() {
      return null;
    }

    /** What the cause of their deaths contains. */
    default @Nullable String cause() {
      return null;
    }

    /** The first moment of their deaths, in ISO 8601. */
    default @Nullable String since() {
      return null;
    }

    /** The moment before which they died, in ISO 8601. */
    default @Nullable String until() {
      return null;
    }

    /** One record, by its printable ID. */
    record One(String record) implements Selection {}

    /** These records, by their printable IDs, sorted. */
    record Named(List<String> ids) implements Selection {
      /**
       * Sorts them.
       *
       * @throws IllegalArgumentException if there are too many or none
       */
      public Named {
        ids = ids.stream().distinct().sorted().toList();
        if (ids.isEmpty() || ids.size() > MOST_IDS) {
          throw new IllegalArgumentException(
              "a redrive is for 1 to %d IDs, not for %d".formatted(MOST_IDS, ids.size()));
        }
      }
    }

    /**
     * All that pass this filter.
     *
     * @param cause null for any
     * @param since null for any
     * @param until null for any
     */
    record Filter(
        String topic, @Nullable String cause, @Nullable String since, @Nullable String until)
        implements Selection {
      /**
       * Checks the moments.
       *
       * @throws DateTimeException if one is none
       */
      public Filter {
        var _ = moments(since, until);
      }

      private static Predicate<Instant> moments(@Nullable String since, @Nullable String until) {
        Instant first = since == null ? Instant.MIN : Instant.parse(since);
        Instant end = until == null ? Instant.MAX : Instant.parse(until);
        return died -> !died.isBefore(first) && died.isBefore(end);
      }

      /** Whether it takes records that died of this. */
      public boolean takesCause(@Nullable String died) {
        return cause == null || (died != null && died.contains(cause));
      }

      /** Whether it takes records that died then; made once for many. */
      public Predicate<Instant> moments() {
        return moments(since, until);
      }

      /** The same, but for those that died at this moment or later. */
      public Filter before(Instant end) {
        return until == null || end.isBefore(Instant.parse(until))
            ? new Filter(topic, cause, since, end.toString())
            : this;
      }

      /** As an operator is told it. */
      @Override
      public String toString() {
        return "topic "
            + topic
            + (cause == null ? "" : ", cause " + cause)
            + (since == null ? "" : ", since " + since)
            + (until == null ? "" : ", until " + until);
      }
    }
  }

  /**
   * Keeps a copy.
   *
   * @throws IllegalArgumentException if limit or rate is not positive, or what may be done is not
   *     one record
   * @throws DateTimeException if the delay is none
   */
  public RedriveSpec {
    ranges = List.copyOf(ranges);
    if (limit < 1 || rate < 1) {
      throw new IllegalArgumentException(
          "a redrive of at most %d, %d a second, moves nothing".formatted(limit, rate));
    }
    if (mayBeDone && !(selection instanceof Selection.One)) {
      throw new IllegalArgumentException("what is forgotten is redriven one by one");
    }
    var _ = delay == null ? null : Duration.parse(delay);
  }

  /** As it is read: the fields of the selection are beside the others. */
  @JsonCreator
  static RedriveSpec read(
      @JsonProperty("topic") @Nullable String topic,
      @JsonProperty("record") @Nullable String record,
      @JsonProperty("ids") @Nullable List<String> ids,
      @JsonProperty("cause") @Nullable String cause,
      @JsonProperty("since") @Nullable String since,
      @JsonProperty("until") @Nullable String until,
      @JsonProperty("limit") int limit,
      @JsonProperty("rate") int rate,
      @JsonProperty("delay") @Nullable String delay,
      @JsonProperty("mayBeDone") boolean mayBeDone,
      @JsonProperty("ranges") List<Range> ranges) {
    Selection selection;
    if (record != null) {
      selection = new Selection.One(record);
    } else if (ids != null) {
      selection = new Selection.Named(ids);
    } else {
      selection = new Selection.Filter(Objects.requireNonNull(topic, "topic"), cause, since, until);
    }
    return new RedriveSpec(selection, limit, rate, delay, mayBeDone, ranges);
  }

  /** One record, by its printable ID, in ranges that are to be found. */
  public static RedriveSpec ofRecord(String record) {
    return of(new Selection.One(record), 1, RATE_OF_ONE);
  }

  /** A redrive of these records, by their printable IDs, in ranges that are to be found. */
  public static RedriveSpec ofIds(List<String> ids, int rate) {
    return of(new Selection.Named(ids), Math.max(1, ids.size()), rate);
  }

  /** The selected records, in ranges that are to be found. */
  public static RedriveSpec of(Selection selection, int limit, int rate) {
    return new RedriveSpec(selection, limit, rate, null, false, List.of());
  }

  /** Whether it is for records that were named, and not for all that pass a filter. */
  public boolean namesRecords() {
    return !(selection instanceof Selection.Filter);
  }

  /** Whether it asks for the same, wherever the topics end by now. */
  public boolean asksFor(RedriveSpec other) {
    return withRanges(List.of()).equals(other.withRanges(List.of()));
  }

  /** This spec with these ranges. */
  public RedriveSpec withRanges(List<Range> found) {
    return new RedriveSpec(selection, limit, rate, delay, mayBeDone, found);
  }

  /** This spec, but for what passes its filter and died at this moment or later. */
  public RedriveSpec before(Instant end) {
    return selection instanceof Selection.Filter filter
        ? new RedriveSpec(filter.before(end), limit, rate, delay, mayBeDone, ranges)
        : this;
  }

  /** This spec, which begins so long after it was asked for; null for at once. */
  public RedriveSpec withDelay(@Nullable Duration time) {
    return new RedriveSpec(
        selection, limit, rate, time == null ? null : time.toString(), mayBeDone, ranges);
  }

  /** This spec, of a record of which nobody knows whether it is done since. */
  public RedriveSpec thatMayBeDone() {
    return new RedriveSpec(selection, limit, rate, delay, true, ranges);
  }
}
