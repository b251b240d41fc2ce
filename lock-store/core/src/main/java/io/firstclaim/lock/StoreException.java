package io.firstclaim.lock;

import org.jspecify.annotations.Nullable;

/**
 * A fault of the store: one that passes ({@link StoreUnavailableException}) or one that somebody
 * has to fix ({@link StoreRefusedException}). The message says what to look at, in one line.
 */
public abstract sealed class StoreException extends RuntimeException
    permits StoreUnavailableException, StoreRefusedException {
  private static final long serialVersionUID = 1L;

  StoreException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
