package io.firstclaim.lock.document;

/**
 * The update was sent, and there is no knowing whether it was applied. A blind retry may apply it
 * twice: read the document first, or make updates that may be applied twice.
 */
public final class OutcomeUnknownException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  OutcomeUnknownException(String message) {
    super(message);
  }
}
