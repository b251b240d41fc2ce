package io.firstclaim.lock.store;

import io.firstclaim.lock.ClaimRecord;

/**
 * What becomes of a command, given what is stored.
 *
 * @param <R> the kind of answer
 */
sealed interface Decision<R> {
  /**
   * Write {@code next} if what is stored is still what this was decided on.
   *
   * @param then the answer, if the write is applied
   */
  record Update<R>(ClaimRecord next, R then) implements Decision<R> {}

  /**
   * Write nothing.
   *
   * @param answer to the command
   */
  record Unchanged<R>(R answer) implements Decision<R> {}
}
