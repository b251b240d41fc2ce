package io.firstclaim.lock;

import org.jspecify.annotations.Nullable;

/**
 * A fault of the store: one that passes ({@link StoreUnavailableException}), or one that somebody
 * has to mend, for all ({@link StoreRefusedException}) or for one ID ({@link
 * UnreadableClaimException}). The message says what to look at, in one line.
 */
public abstract sealed class StoreException extends RuntimeException
    permits StoreUnavailableException, StoreRefusedException, UnreadableClaimException {
  private static final long serialVersionUID = 1L;

  StoreException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
