package io.firstclaim.lock;

/** Text from elsewhere, made fit for one line of a log, a message or a cause. */
public final class OneLine {
  private OneLine() {}

  /**
   * The text with each run of line breaks and other control characters replaced by one blank; other
   * characters that cannot be seen, or that reorder those that can, are escaped as {@code
   * \u005cu{hex}}.
   */
  public static String of(String text) {
    return of(text, Integer.MAX_VALUE);
  }

  /**
   * The text in one line, cut.
   *
   * @param most how many of the text's code points are kept; {@code …} follows them
   */
  public static String of(String text, int most) {
    StringBuilder line = new StringBuilder();
    int kept = 0;
    for (int at = 0; at < text.length(); at += Character.charCount(text.codePointAt(at))) {
      if (kept++ == most) {
        return line.append('…').toString();
      }
      append(line, text.codePointAt(at));
    }
    return line.toString();
  }

  /** The message of a fault. */
  public static String of(Throwable fault) {
    return of(String.valueOf(fault.getMessage()));
  }

  private static void append(StringBuilder line, int codePoint) {
    switch (Character.getType(codePoint)) {
      case Character.CONTROL -> {
        if (line.isEmpty() || line.charAt(line.length() - 1) != ' ') {
          line.append(' ');
        }
      }
      case Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED ->
          line.append("\\u{").append(Integer.toHexString(codePoint)).append('}');
      default -> line.appendCodePoint(codePoint);
    }
  }
}
