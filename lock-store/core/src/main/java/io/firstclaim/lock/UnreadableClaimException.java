package io.firstclaim.lock;

/**
 * The store answered, but what it has in the place of one ID is no claim, and stays untouched. No
 * other ID is concerned. The message names the place.
 */
public final class UnreadableClaimException extends StoreUnavailableException {
  private static final long serialVersionUID = 1L;

  /** A fault with its cause. */
  public UnreadableClaimException(String message, Throwable cause) {
    super(message, cause);
  }
}
