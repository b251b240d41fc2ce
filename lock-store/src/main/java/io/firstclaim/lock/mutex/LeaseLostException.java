package io.firstclaim.lock.mutex;

/**
 * The caller no longer holds what it works under: somebody else may hold it already. The message
 * names it and its token.
 */
public final class LeaseLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  LeaseLostException(String message) {
    super(message);
  }
}
