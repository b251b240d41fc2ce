package io.firstclaim.lock.document;

/** The answer to a conditional write, or deletion, of a document. */
public sealed interface WriteResult {
  /** It was applied. */
  record Written() implements WriteResult {}

  /** It was not applied: the document is not the expected one. */
  record Differs() implements WriteResult {}

  /**
   * It may or may not have been applied, or may yet be.
   *
   * @param why for the message, in one line
   */
  record Unknown(String why) implements WriteResult {}
}
