package io.firstclaim.lock.deduplicator;

import io.firstclaim.lock.Backoff;
import java.time.Duration;
import java.util.Optional;

/**
 * How often failing work is tried, and how far apart. Immutable.
 *
 * @param maxAttempts how many attempts there are before it is given up; at least one
 * @param backoff the pauses between them
 */
public record RetryPolicy(int maxAttempts, Backoff backoff) {
  /**
   * Why work is given up by a {@linkplain #isSpent grant} that is only there for that. True whether
   * those who made the attempts died, or could not give it up.
   */
  public static final String SPENT =
      "its attempts are used up, and none of them has recorded an end";

  private static final Duration LONGEST_ASKED = Duration.ofDays(1);

  /** Five attempts, a second apart at first and a minute at most. */
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(5, new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1)));

  /**
   * Checks the number of attempts.
   *
   * @throws IllegalArgumentException if it is less than one
   */
  public RetryPolicy {
    if (maxAttempts < 1) {
      throw new IllegalArgumentException(
          "%d attempts are too few: give 1 or more".formatted(maxAttempts));
    }
  }

  /** Whether nothing is tried again after this attempt. */
  public boolean isLast(int attempt) {
    return attempt >= maxAttempts;
  }

  /**
   * Whether so many attempts have begun that this one must not. Not the second, however few are
   * allowed: a first grant counts even if its answer was lost and nobody worked under it.
   */
  public boolean isSpent(int attempt) {
    return attempt > Math.max(maxAttempts, 2);
  }

  /**
   * How many attempts are to be counted once this one has ended: after the last, so many that the
   * next grant {@linkplain #isSpent is only there to give up}.
   */
  public int counted(int attempt) {
    return isLast(attempt) ? spent(attempt) : attempt;
  }

  /**
   * How many attempts are to be counted once this one has ended, of work that nobody is to try
   * again: so many that the next grant is only there to give it up.
   */
  public int spent(int attempt) {
    return Math.max(attempt, Math.max(maxAttempts, 2));
  }

  /**
   * How many attempts were made, as far as is known: a grant after the last one is only there to
   * give up, and what was {@linkplain #counted counted} before it may be more than were made.
   */
  public int made(int attempt) {
    return isSpent(attempt) ? maxAttempts : attempt;
  }

  /** How long after this attempt the next one is due. */
  public Duration after(int attempt) {
    return backoff.after(attempt);
  }

  /**
   * How long to wait after this attempt, or what the work asked for if that is longer, up to a day.
   */
  public Duration after(int attempt, Optional<Duration> asked) {
    Duration pause = after(attempt);
    return asked
        .map(wait -> wait.compareTo(LONGEST_ASKED) < 0 ? wait : LONGEST_ASKED)
        .filter(wait -> wait.compareTo(pause) > 0)
        .orElse(pause);
  }
}
