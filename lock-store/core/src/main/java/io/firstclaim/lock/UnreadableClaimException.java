package io.firstclaim.lock;

/**
 * The store answered, but what it holds for one ID is not a claim, and is left untouched until
 * somebody removes it. A lease on that ID is lost. No other ID is affected. The message names the
 * place.
 */
public final class UnreadableClaimException extends StoreException {
  private static final long serialVersionUID = 1L;

  /** A fault that has no cause but itself. */
  public UnreadableClaimException(String message) {
    super(message, null);
  }

  /** A fault with its cause. */
  public UnreadableClaimException(String message, Throwable cause) {
    super(message, cause);
  }
}
