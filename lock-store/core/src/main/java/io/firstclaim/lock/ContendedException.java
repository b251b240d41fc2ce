package io.firstclaim.lock;

/**
 * Others were faster, again and again until the time was up. Nothing was written, so what was to be
 * changed may be tried again.
 */
public final class ContendedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Says who or what was in the way. */
  public ContendedException(String message) {
    super(message);
  }
}
