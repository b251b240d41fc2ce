package io.firstclaim.lock.document;

/**
 * Others were faster until the time was up. Nothing was written, so the update may be tried again.
 */
public final class ContendedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ContendedException(String message) {
    super(message);
  }
}
