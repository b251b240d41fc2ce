package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.OneLine;
import org.jspecify.annotations.Nullable;

/** Why somebody does something: every act needs a reason, which is written down with it. */
final class Reason {
  /** What messages say is right. */
  static final String REMEDY = "give a reason, such as \"fixed in 1.4\"";

  private static final int MAX_LENGTH = 500;

  private Reason() {}

  /**
   * The reason, in one line.
   *
   * @param given in the body of a request
   * @throws Problem if it is missing or blank
   */
  static String of(@Nullable String given) {
    if (given == null || given.isBlank()) {
      throw Problem.wrong("reason", given, REMEDY);
    }
    return OneLine.of(given.strip(), MAX_LENGTH);
  }
}
