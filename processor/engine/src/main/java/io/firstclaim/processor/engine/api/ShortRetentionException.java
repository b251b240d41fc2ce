package io.firstclaim.processor.engine.api;

/**
 * Claims would be forgotten while their records can still be delivered and would then be processed
 * again. The message is one line: the topic, the retention, what would be right.
 */
public final class ShortRetentionException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Says to people which topic it is, what the retention is and what would be right. */
  public ShortRetentionException(String message) {
    super(message);
  }
}
