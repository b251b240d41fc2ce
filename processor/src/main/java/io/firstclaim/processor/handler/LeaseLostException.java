package io.firstclaim.processor.handler;

/** The lease on the record is over or somebody else's: what the handler does now must not count. */
public final class LeaseLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** For this reason. */
  public LeaseLostException(String message) {
    super(message);
  }
}
