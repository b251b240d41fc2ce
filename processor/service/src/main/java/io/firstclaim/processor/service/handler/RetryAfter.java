package io.firstclaim.processor.service.handler;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Optional;

/** The {@code Retry-After} header of an HTTP response: seconds, or a date. */
final class RetryAfter {
  /** The longest wait; a longer one is cut to it. */
  static final Duration MAX = Duration.ofHours(1);

  private static final int MAX_DIGITS = 9;

  private RetryAfter() {}

  /** How long to wait, at most {@link #MAX}; empty if the header asks for no wait or is unsound. */
  static Optional<Duration> parse(String header, Instant now) {
    return delay(header.strip(), now)
        .filter(Duration::isPositive)
        .map(wait -> wait.compareTo(MAX) < 0 ? wait : MAX);
  }

  private static Optional<Duration> delay(String value, Instant now) {
    if (!value.isEmpty() && value.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return Optional.of(
          value.length() > MAX_DIGITS ? MAX : Duration.ofSeconds(Long.parseLong(value)));
    }
    try {
      Instant at = DateTimeFormatter.RFC_1123_DATE_TIME.parse(value, Instant::from);
      return Optional.of(Duration.between(now, at));
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }
}
