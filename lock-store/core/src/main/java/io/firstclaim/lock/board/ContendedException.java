package io.firstclaim.lock.board;

/**
 * Others wrote the same items again and again until the time was up. Nothing was written, so the
 * transition may be tried again.
 */
public final class ContendedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ContendedException(String message) {
    super(message);
  }
}
