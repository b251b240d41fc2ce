package io.firstclaim.lock;

/**
 * The store could not be asked or did not answer; it may later. The message says what to look at.
 */
public final class StoreUnavailableException extends StoreException {
  private static final long serialVersionUID = 1L;

  /** A fault that has no cause but itself. */
  public StoreUnavailableException(String message) {
    super(message, null);
  }

  /** A fault with its cause. */
  public StoreUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
