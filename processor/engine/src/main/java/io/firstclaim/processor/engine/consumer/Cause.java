package io.firstclaim.processor.engine.consumer;

import org.jspecify.annotations.Nullable;

/**
 * Why an attempt failed, as its handler tells it, made fit to be stored, published and logged: one
 * line of bounded length and well-formed.
 */
final class Cause {
  private static final int MAX_CODE_POINTS = 1000;

  private Cause() {}

  static String of(Throwable fault) {
    return of(fault.toString());
  }

  static String of(@Nullable String told) {
    if (told == null || told.isBlank()) {
      return "no cause given";
    }
    StringBuilder line = new StringBuilder();
    told.codePoints()
        .limit(MAX_CODE_POINTS)
        .forEach(c -> line.appendCodePoint(isPrintable(c) ? c : '?'));
    return line.toString();
  }

  private static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }
}
