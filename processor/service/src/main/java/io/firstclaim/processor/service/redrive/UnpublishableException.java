package io.firstclaim.processor.service.redrive;

/** A record cannot be published again, however often it is tried. */
final class UnpublishableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UnpublishableException(String message) {
    super(message);
  }
}
