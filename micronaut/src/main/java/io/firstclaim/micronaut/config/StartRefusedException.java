package io.firstclaim.micronaut.config;

/** The application must not start like this; the remedy says what would be right. */
public final class StartRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String remedy;

  /**
   * Refused.
   *
   * @param fault what is wrong
   * @param remedy what to do about it
   */
  public StartRefusedException(String fault, String remedy) {
    super(fault + ": " + remedy);
    this.remedy = remedy;
  }

  /** What to do about it. */
  public String remedy() {
    return remedy;
  }
}
