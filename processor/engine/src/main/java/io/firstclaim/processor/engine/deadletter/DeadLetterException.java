package io.firstclaim.processor.engine.deadletter;

/** A dead letter was not acknowledged. */
public final class DeadLetterException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  DeadLetterException(String topic, Throwable cause) {
    super("dead letter to topic %s was not acknowledged: %s".formatted(topic, cause), cause);
  }
}
