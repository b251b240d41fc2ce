package io.firstclaim.lock.document;

/**
 * The update was sent, and whether it took cannot be known. Tried again blindly it may be made
 * twice: read the document first, or make updates that may be made twice.
 */
public final class OutcomeUnknownException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  OutcomeUnknownException(String message) {
    super(message);
  }
}
