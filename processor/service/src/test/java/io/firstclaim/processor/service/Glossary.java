package io.firstclaim.processor.service;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The words of the house, as the table in CONTRIBUTING.md has them. */
final class Glossary {
  private static final Path CONTRIBUTING = Path.of("..", "..", "CONTRIBUTING.md");
  private static final Pattern ROW = Pattern.compile("\\| ([^|]+) \\| [^|]+ \\| ([^|]*)\\|");

  private Glossary() {}

  /** The word to use, by each word that stands for the same and is not used. */
  static Map<String, String> wordByWhatItIsNotCalled() throws IOException {
    Map<String, String> words = new TreeMap<>();
    for (String line : Files.readAllLines(CONTRIBUTING)) {
      var row = ROW.matcher(line);
      if (row.matches() && !row.group(1).equals("word")) {
        for (String other : row.group(2).split(",", -1)) {
          words.put(other.strip(), row.group(1));
        }
      }
    }
    words.keySet().removeIf(other -> other.isEmpty() || !other.matches("[a-z-]+"));
    return words;
  }

  /** Whether a name such as {@code TwoPlaces} has this word, or these with a hyphen, in it. */
  static boolean isIn(String name, String word) {
    String words = name.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
    return ("-" + words + "-").matches(".*-" + word + "s?-.*");
  }
}
