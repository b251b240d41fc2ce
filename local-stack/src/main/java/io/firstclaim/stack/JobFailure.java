package io.firstclaim.stack;

/** Why the main job cannot run or go on, in one line for the person who started it. */
final class JobFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  JobFailure(String message) {
    super(message);
  }

  JobFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
