package example.inbox;

/** A holder with a higher token has been here: this one's lease is over, nothing was changed. */
public final class StaleTokenException extends Exception {
  private static final long serialVersionUID = 1L;

  StaleTokenException(String message) {
    super(message);
  }
}
