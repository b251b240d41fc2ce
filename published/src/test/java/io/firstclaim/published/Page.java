package io.firstclaim.published;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A page of the documentation, whose samples are taken word for word. */
record Page(String text) {
  private static final String FENCE = "```";

  /** The page of this name, such as {@code README.md}. */
  static Page of(String name) throws IOException {
    return new Page(Files.readString(Path.of("..").resolve(name)));
  }

  /**
   * A block of code.
   *
   * @param heading how the line begins below which it stands, such as {@code ## Jobs}
   * @param language of the blocks that count
   * @param which 0 for the first of them
   */
  String block(String heading, String language, int which) {
    int at = ("\n" + text).indexOf("\n" + heading);
    int begin = -1;
    for (int blocks = 0; blocks <= which && at >= 0; blocks++) {
      begin = text.indexOf("\n" + FENCE + language + "\n", at);
      at = begin < 0 ? -1 : begin + 1;
    }
    if (begin < 0) {
      throw new IllegalStateException(
          "no %s of number %d under %s".formatted(language, which, heading));
    }
    int first = begin + FENCE.length() + language.length() + 2;
    return text.substring(first, text.indexOf(FENCE, first));
  }

  /** What stands between backticks in a line, from these words on. */
  String inline(String words) {
    int begin = text.indexOf("`" + words);
    if (begin < 0) {
      throw new IllegalStateException("no " + words);
    }
    return text.substring(begin + 1, text.indexOf('`', begin + 1));
  }
}
