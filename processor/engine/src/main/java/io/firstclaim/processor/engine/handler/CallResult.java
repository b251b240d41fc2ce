package io.firstclaim.processor.engine.handler;

import io.firstclaim.lock.Effects;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the call of a handler means for its record: the handler's answer, by whoever broke it off
 * and by what the breaker makes of it.
 */
public sealed interface CallResult {
  /** It is done. */
  record Handled(@Nullable String result, @Nullable Effects effects) implements CallResult {}

  /** The record will never succeed. */
  record Hopeless(String cause) implements CallResult {}

  /**
   * The attempt failed, and counts.
   *
   * @param after how long the handler wants the record to wait, at least
   */
  record TryAgain(String cause, Optional<Duration> after) implements CallResult {}

  /**
   * The downstream was not there for the record, or fails nearly all: the attempt does not count.
   *
   * @param after how long the handler wants the record to wait, at least, in every zone
   * @param refusals how often the record was refused while others passed
   */
  record Excused(String cause, Duration after, int refusals) implements CallResult {}

  /**
   * The call was broken off, or not begun, for what says nothing of the record: anybody may try it
   * at once.
   *
   * @param counts whether the attempt counts
   */
  record CutShort(String cause, boolean counts) implements CallResult {}

  /** The handler does not come back in time, and another thread has the record. */
  record Abandoned() implements CallResult {}
}
