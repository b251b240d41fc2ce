package io.firstclaim.processor.dataset;

/**
 * What stands where the root or a manifest of a dataset should is none: it is damaged, missing, or
 * something else wrote it. That says nothing of any record. The message names the object and the
 * remedy, in one line.
 */
public sealed class UnreadableException extends RuntimeException
    permits UnreadableManifestException {
  private static final long serialVersionUID = 1L;

  UnreadableException(String message) {
    super(message);
  }
}
