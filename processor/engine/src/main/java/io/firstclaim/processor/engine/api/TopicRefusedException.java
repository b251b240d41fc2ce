package io.firstclaim.processor.engine.api;

/**
 * A topic keeps the engine from starting, and waiting does not help. The message is one line: the
 * topic, what is wrong, what would be right.
 */
public final class TopicRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Says to people which topic it is, what is wrong and what would be right. */
  public TopicRefusedException(String message) {
    super(message);
  }
}
