package io.firstclaim.listener;

import org.jspecify.annotations.Nullable;

/** A dead letter is not acknowledged, so its record must not count as dead. */
final class DeadLetterException extends Exception {
  private static final long serialVersionUID = 1;

  DeadLetterException(String what, @Nullable Throwable cause) {
    super(cause == null ? what : what + ": " + cause, cause);
  }
}
