package io.firstclaim.lock;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Pauses that double from failure to failure up to a bound, and are partly random, so that callers
 * that failed together do not return together. Immutable.
 *
 * @param first the full pause after the first failure
 * @param longest the longest pause there is
 */
public record Backoff(Duration first, Duration longest) {
  private static final int MAX_DOUBLINGS = 20;

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException if the first pause is not positive
   */
  public Backoff {
    if (!first.isPositive()) {
      throw new IllegalArgumentException("a first pause of %s is not positive".formatted(first));
    }
  }

  /** The full pause after so many failures in a row, without its random part; zero after none. */
  public Duration whole(int failures) {
    if (failures <= 0) {
      return Duration.ZERO;
    }
    Duration doubled = first.multipliedBy(1L << Math.min(failures - 1, MAX_DOUBLINGS));
    return doubled.compareTo(longest) < 0 ? doubled : longest;
  }

  /**
   * The pause after so many failures in a row: half of the full one, plus a random part of the
   * other half.
   */
  public Duration after(int failures) {
    Duration whole = whole(failures);
    if (whole.isZero()) {
      return whole;
    }
    long half = Math.max(1, whole.toNanos() / 2);
    return Duration.ofNanos(half + ThreadLocalRandom.current().nextLong(half));
  }
}
