package io.firstclaim.lock.testkit.process;

/** A server does not start, answer or stop as it should; the message says which and why. */
public final class StackException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public StackException(String message) {
    super(message);
  }

  public StackException(String message, Throwable cause) {
    super(message, cause);
  }
}
