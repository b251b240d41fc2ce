package io.firstclaim.lock;

/**
 * The store must not be used: it is missing, does not keep what claims rest on, or does not permit
 * what they need. Waiting does not help. The message names what was seen and the remedy.
 */
public final class StoreRefusedException extends StoreException {
  private static final long serialVersionUID = 1L;

  /** A refusal for this reason. */
  public StoreRefusedException(String message) {
    super(message, null);
  }
}
