package io.firstclaim.processor.engine.consumer;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * When a failed record is tried again: after a backoff that doubles with every attempt, of which
 * the second half is random, so that records that failed together do not return together.
 */
record RetryPolicy(int maxAttempts, Duration backoff, Duration maxBackoff) {
  private static final int MAX_DOUBLINGS = 20;
  private static final Duration LONGEST_ASKED = Duration.ofDays(1);

  boolean isLast(int attempt) {
    return attempt >= maxAttempts;
  }

  /** Whether so many attempts, if their holders died, put the record under suspicion. */
  boolean isSuspect(int attempt) {
    return attempt > Math.max(1, maxAttempts / 2);
  }

  /** How many attempts were made: a grant after the last one is only for giving up. */
  int made(int attempt) {
    return Math.min(attempt, maxAttempts);
  }

  /** The same, or what the handler asked for, if that is longer; of that, a day at most. */
  Duration after(int attempt, Optional<Duration> asked) {
    Duration backoff = after(attempt);
    return asked
        .map(wait -> wait.compareTo(LONGEST_ASKED) < 0 ? wait : LONGEST_ASKED)
        .filter(wait -> wait.compareTo(backoff) > 0)
        .orElse(backoff);
  }

  Duration after(int attempt) {
    Duration doubled = backoff.multipliedBy(1L << Math.min(attempt - 1, MAX_DOUBLINGS));
    Duration whole = doubled.compareTo(maxBackoff) < 0 ? doubled : maxBackoff;
    long half = Math.max(1, whole.toNanos() / 2);
    return Duration.ofNanos(half + ThreadLocalRandom.current().nextLong(half));
  }
}
