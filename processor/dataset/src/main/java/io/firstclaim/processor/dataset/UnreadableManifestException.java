package io.firstclaim.processor.dataset;

/** A manifest that the root names is not there, or is none. */
final class UnreadableManifestException extends UnreadableException {
  private static final long serialVersionUID = 1L;

  private final String partition;

  UnreadableManifestException(String partition, String message) {
    super(message);
    this.partition = partition;
  }

  /** The partition whose files it should list. */
  String partition() {
    return partition;
  }
}
