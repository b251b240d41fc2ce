package io.firstclaim.processor.engine.setting;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as they are written in settings: {@code 500ms}, {@code 30s}, {@code 8d}, or ISO 8601.
 */
public final class DurationText {
  /** What messages say is right. */
  public static final String REMEDY = "give a duration such as 500ms, 30s, 5m, 12h or 8d";

  /** The longest that is taken: a longer one would overflow somewhere, and nobody means it. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private static final Pattern AMOUNT = Pattern.compile("(\\d{1,18})(ns|us|ms|s|m|h|d)");

  private static final Map<String, ChronoUnit> UNITS =
      Map.of(
          "ns", ChronoUnit.NANOS,
          "us", ChronoUnit.MICROS,
          "ms", ChronoUnit.MILLIS,
          "s", ChronoUnit.SECONDS,
          "m", ChronoUnit.MINUTES,
          "h", ChronoUnit.HOURS,
          "d", ChronoUnit.DAYS);

  private DurationText() {}

  /**
   * The duration of this text.
   *
   * @throws IllegalArgumentException if it has none
   */
  public static Duration parse(String text) {
    try {
      Matcher amount = AMOUNT.matcher(text);
      return amount.matches()
          ? Duration.of(Long.parseLong(amount.group(1)), UNITS.get(amount.group(2)))
          : Duration.parse(text);
    } catch (DateTimeException | ArithmeticException e) {
      throw new IllegalArgumentException(REMEDY, e);
    }
  }

  static boolean isSensible(Duration duration) {
    return !duration.isNegative() && duration.compareTo(LONGEST) <= 0;
  }

  /** The text of a duration, in the largest unit of which it is a whole number. */
  static String of(Duration duration) {
    if (duration.isZero()) {
      return "0s";
    }
    if (duration.toNanosPart() % 1_000_000 != 0) {
      return duration.toString();
    }
    long millis = duration.toMillis();
    if (millis % 1000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1000;
    if (seconds % 60 != 0) {
      return seconds + "s";
    }
    if (seconds % 3600 != 0) {
      return seconds / 60 + "m";
    }
    return seconds % 86_400 == 0 ? seconds / 86_400 + "d" : seconds / 3600 + "h";
  }
}
