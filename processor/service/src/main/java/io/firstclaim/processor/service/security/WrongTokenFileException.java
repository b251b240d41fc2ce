package io.firstclaim.processor.service.security;

/**
 * A token file cannot be used. The message is one line: which file, which line of it, what would be
 * right; never what the file says, which is nobody's to see.
 */
public final class WrongTokenFileException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The message names the place and the remedy. */
  public WrongTokenFileException(String message) {
    super(message);
  }
}
