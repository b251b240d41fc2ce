package io.firstclaim.processor.service.handler;

/** Text from outside, made fit for a cause: one printable line of bounded length. */
final class OneLine {
  private static final int MAX_CODE_POINTS = 200;

  private OneLine() {}

  static String of(String text) {
    StringBuilder line = new StringBuilder();
    text.codePoints().limit(MAX_CODE_POINTS).forEach(c -> append(line, c));
    if (text.codePointCount(0, text.length()) > MAX_CODE_POINTS) {
      line.append("...");
    }
    return line.toString();
  }

  private static void append(StringBuilder line, int codePoint) {
    switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
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
