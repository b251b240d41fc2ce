package io.firstclaim.processor.service.acts;

/** An act could not be written down, so it must not be done. The message says why, in one line. */
public final class NotWrittenException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The message says why it could not be written. */
  public NotWrittenException(String message) {
    super(message);
  }
}
