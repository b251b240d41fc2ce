package io.firstclaim.lock.dynamodb;

/** What a {@link StatementConformanceCheck} found. */
sealed interface StatementConformance {
  /** The table takes statements and keeps their conditions. */
  record Conforms() implements StatementConformance {}

  /**
   * The table does not take statements, or one was not answered as it should be. That may change.
   *
   * @param why in one line
   */
  record Unusable(String why) implements StatementConformance {}

  /**
   * The table applied a statement whose condition did not hold, or wrote something else than it was
   * told to.
   *
   * @param why in one line
   */
  record Unsafe(String why) implements StatementConformance {}
}
