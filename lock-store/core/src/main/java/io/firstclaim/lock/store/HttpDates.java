package io.firstclaim.lock.store;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/**
 * Reads the {@code Date} headers of a store's answers. All answers within a second bear the same
 * date, so the last one is remembered, and parsed only once. Thread-safe.
 */
public final class HttpDates {
  private volatile Read last = new Read("", Optional.empty());

  private record Read(String text, Optional<Instant> time) {}

  /** The time in a header; empty if it is not a date. */
  public Optional<Instant> time(String header) {
    Read known = last;
    if (!known.text.equals(header)) {
      known = new Read(header, parsed(header));
      last = known;
    }
    return known.time;
  }

  /** The time in a header, without remembering it; empty if it is not a date. */
  public static Optional<Instant> parsed(String header) {
    try {
      return Optional.of(
          ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }
}
