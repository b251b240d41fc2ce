package io.firstclaim.processor.handler;

import io.firstclaim.lock.Effects;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What became of a record in its handler. */
public sealed interface HandlerResult {
  /**
   * It is done.
   *
   * @param result kept with the completion in the lock store, up to {@value #MAX_RESULT} characters
   * @param effects written in the very transaction that records the completion, or not at all; null
   *     if there are none
   */
  record Done(@Nullable String result, @Nullable Effects effects) implements HandlerResult {
    /** The longest result. */
    public static final int MAX_RESULT = 4096;

    /** Done, with no effects. */
    public Done(@Nullable String result) {
      this(result, null);
    }

    /**
     * Checks the length.
     *
     * @throws IllegalArgumentException if the result is longer than {@value #MAX_RESULT}
     */
    public Done {
      if (result != null && result.length() > MAX_RESULT) {
        throw new IllegalArgumentException(
            "a stored result has at most %d characters, this one %d"
                .formatted(MAX_RESULT, result.length()));
      }
    }
  }

  /**
   * It failed and is to be tried again, up to {@code firstclaim.retry.max-attempts}.
   *
   * @param cause why, for people
   * @param after how long to wait at least; the configured backoff counts if it is longer
   */
  record Retry(String cause, Optional<Duration> after) implements HandlerResult {}

  /**
   * What the handler takes records to is not there: that says nothing of this record, and most
   * likely no other one would fare better. No attempt is counted, unless the record is refused
   * three times while others pass. Records wait meanwhile, and one tries now and then.
   *
   * @param cause why, for people: what is not there, and the remedy if there is one
   * @param after how long this record waits at least, at most a day; zero if any zone may try it at
   *     once
   */
  record Unavailable(String cause, Duration after) implements HandlerResult {
    private static final Duration LONGEST = Duration.ofDays(1);

    /** Keeps the wait between zero and a day. */
    public Unavailable {
      if (after.isNegative()) {
        after = Duration.ZERO;
      } else if (after.compareTo(LONGEST) > 0) {
        after = LONGEST;
      }
    }
  }

  /**
   * It will never succeed; it becomes a dead letter.
   *
   * @param cause why, for people
   */
  record Failed(String cause) implements HandlerResult {}

  /** Done, with nothing to keep. */
  static HandlerResult done() {
    return new Done(null);
  }

  /**
   * Done, with a result to keep and effects to write with the completion: they happen if and only
   * if it is recorded, and so once, however often the record is handled. They must be of the kind
   * that the lock store has, such as {@code DynamoDbEffects}; if it refuses them, the record has
   * failed and is tried again.
   */
  static HandlerResult done(@Nullable String result, Effects effects) {
    return new Done(result, effects);
  }

  /** Failed; to be tried again after the configured backoff. */
  static HandlerResult retry(String cause) {
    return new Retry(cause, Optional.empty());
  }

  /** Not tried, as what the handler takes records to is not there; to be tried after this time. */
  static HandlerResult unavailable(String cause, Duration after) {
    return new Unavailable(cause, after);
  }
}
