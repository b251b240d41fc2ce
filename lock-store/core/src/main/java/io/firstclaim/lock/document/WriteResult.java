package io.firstclaim.lock.document;

/** What a conditional write of a document is answered. */
public sealed interface WriteResult {
  /** It took. */
  record Written() implements WriteResult {}

  /** It did not take: the document is not the expected one. */
  record Refused() implements WriteResult {}

  /**
   * It may or may not have taken, or may yet.
   *
   * @param why for the message, in one line
   */
  record Unknown(String why) implements WriteResult {}
}
