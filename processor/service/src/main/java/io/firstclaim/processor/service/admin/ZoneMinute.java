package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.firstclaim.processor.audit.api.Latencies;
import io.firstclaim.processor.audit.api.Minute;
import io.micronaut.core.annotation.Introspected;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Base64;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What one zone did in one minute, all instances of the zone together.
 *
 * @param start the minute's first moment, in ISO 8601
 * @param completed records completed
 * @param takeovers leases of others that were over and taken over
 * @param failures attempts that failed and are repeated
 * @param deadLetters records given up
 * @param mismatches records whose ID is known with another payload
 * @param lost leases that were lost
 * @param p50Millis half of the completed records' handlers took at most so long
 * @param p99Millis 99 of 100 took at most so long
 * @param latencies all of them, in Base64: between instances alone, which add theirs up
 */
@Introspected
@JsonInclude(JsonInclude.Include.NON_NULL)
record ZoneMinute(
    String zone,
    String start,
    long completed,
    long takeovers,
    long failures,
    long deadLetters,
    long mismatches,
    long lost,
    long p50Millis,
    long p99Millis,
    @Nullable String latencies) {
  /** Checks what minutes are added up by. */
  ZoneMinute {
    Objects.requireNonNull(zone, "a minute of no zone");
    Objects.requireNonNull(start, "a minute without its beginning");
  }

  static ZoneMinute of(Minute minute) {
    Latencies took = minute.latencies();
    return new ZoneMinute(
        minute.zone(),
        minute.start().toString(),
        minute.completed(),
        minute.takeovers(),
        minute.failures(),
        minute.deadLetters(),
        minute.mismatches(),
        minute.lost(),
        took.quantile(0.5).toMillis(),
        took.quantile(0.99).toMillis(),
        Base64.getEncoder().encodeToString(took.bytes()));
  }

  /**
   * The minute that it was made of.
   *
   * @throws IllegalArgumentException if it does not say all, or another nonsense
   */
  Minute minute() {
    if (latencies == null) {
      throw new IllegalArgumentException("a minute without its latencies cannot be added up");
    }
    return new Minute(
        zone,
        moment(start),
        completed,
        takeovers,
        failures,
        deadLetters,
        mismatches,
        lost,
        Latencies.of(Base64.getDecoder().decode(latencies)));
  }

  private static Instant moment(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException("a minute has no such beginning", e);
    }
  }

  /** As people see it. */
  ZoneMinute withoutLatencies() {
    return new ZoneMinute(
        zone,
        start,
        completed,
        takeovers,
        failures,
        deadLetters,
        mismatches,
        lost,
        p50Millis,
        p99Millis,
        null);
  }
}
