package io.firstclaim.lock;

/**
 * The store must not be used: it is missing, or does not keep what claims rest on. The message
 * names what was seen and the remedy.
 */
public final class StoreRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A refusal for this reason. */
  public StoreRefusedException(String message) {
    super(message);
  }
}
