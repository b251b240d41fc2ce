package io.firstclaim.processor.engine.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** What {@code docs/architecture.md} says. */
public final class Architecture {
  private Architecture() {}

  /** The lines below this heading that begin so. */
  public static List<String> lines(String heading, String begin) throws IOException {
    return Files.readAllLines(file()).stream()
        .dropWhile(line -> !line.equals("## " + heading))
        .skip(1)
        .takeWhile(line -> !line.startsWith("## "))
        .filter(line -> line.startsWith(begin))
        .toList();
  }

  private static Path file() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("docs/architecture.md"))) {
      folder = Objects.requireNonNull(folder.getParent(), "docs/architecture.md is not there");
    }
    return folder.resolve("docs/architecture.md");
  }
}
