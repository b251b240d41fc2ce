package io.firstclaim.lock;

import java.util.regex.Pattern;

/**
 * The name of one redrive: of one record, or of all that were redriven together. Whoever begins it
 * makes it up, and gives it again with each repetition. Immutable; its text is safe in headers,
 * logs and pages.
 *
 * @param text 1 to 64 of {@code A-Z a-z 0-9 . _ -}
 */
public record RedriveId(String text) {
  private static final Pattern LEGAL = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  /**
   * Checks the text.
   *
   * @throws IllegalArgumentException if it is not a redrive's name
   */
  public RedriveId {
    if (!LEGAL.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "a redrive's ID has 1 to 64 of A-Z a-z 0-9 . _ -, this one has %d characters"
              .formatted(text.length()));
    }
  }

  /** One that nobody has used. */
  public static RedriveId random() {
    return new RedriveId(Nonce.random().toString());
  }

  /** The ID of the mutex under which one process at a time works on this redrive. */
  public RecordId mutexId() {
    return RecordId.of(text).in(RecordId.Space.REDRIVE);
  }

  /** The text. */
  @Override
  public String toString() {
    return text;
  }
}
