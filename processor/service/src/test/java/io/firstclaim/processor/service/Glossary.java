package io.firstclaim.processor.service;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The words of the house, as the table in CONTRIBUTING.md has them. */
final class Glossary {
  private static final Path CONTRIBUTING = Path.of("..", "..", "CONTRIBUTING.md");
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| ([^|\n]+) \\| [^|\n]+ \\| ([^|\n]*)\\|$");

  private Glossary() {}

  /** The words that it says the meaning of. */
  static List<String> words() throws IOException {
    return rows().stream().map(row -> row.group(1)).toList();
  }

  /** The word to use, by each word that stands for the same and is not used. */
  static Map<String, String> wordByWhatItIsNotCalled() throws IOException {
    Map<String, String> words = new TreeMap<>();
    for (MatchResult row : rows()) {
      for (String other : row.group(2).split(",", -1)) {
        words.put(other.strip(), row.group(1));
      }
    }
    words.keySet().removeIf(other -> other.isEmpty() || !other.matches("[a-z-]+"));
    return words;
  }

  private static List<MatchResult> rows() throws IOException {
    return ROW.matcher(Files.readString(CONTRIBUTING))
        .results()
        .filter(row -> !row.group(1).equals("word"))
        .toList();
  }

  /** Whether a name such as {@code TwoPlaces} has this word, or these with a hyphen, in it. */
  static boolean isIn(String name, String word) {
    String words = name.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
    return ("-" + words + "-").matches(".*-" + word + "s?-.*");
  }
}
