package io.firstclaim.lock;

/**
 * The caller no longer holds the lease it works under: nothing it does now may count, as somebody
 * else may hold it already. The message names it and its token.
 */
public final class LeaseLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A loss, with this message. */
  public LeaseLostException(String message) {
    super(message);
  }
}
