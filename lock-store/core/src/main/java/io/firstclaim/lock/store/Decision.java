package io.firstclaim.lock.store;

import io.firstclaim.lock.ClaimRecord;

/**
 * What becomes of a command, given what is stored.
 *
 * @param <R> the kind of answer
 */
sealed interface Decision<R> {
  /**
   * Write {@code next} on the condition that the stored record is still the one decided on; if it
   * is applied, the answer is {@code then}.
   */
  record Write<R>(ClaimRecord next, R then) implements Decision<R> {}

  /** Write nothing; this is the answer. */
  record Answer<R>(R result) implements Decision<R> {}
}
