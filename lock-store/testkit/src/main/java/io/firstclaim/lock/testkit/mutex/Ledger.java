package io.firstclaim.lock.testkit.mutex;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;

/**
 * A file that several processes append to, a line at a time: its order is the order of what
 * happened.
 */
record Ledger(Path file) {
  enum Kind {
    WAITS,
    HOLDS,
    LEAVES
  }

  /**
   * A line.
   *
   * @param at when, on the wall clock that the processes share
   */
  record Line(Kind kind, String who, long token, Instant at) {
    static Line parse(String line) {
      String[] parts = line.split(" ", -1);
      return new Line(
          Kind.valueOf(parts[0]), parts[1], Long.parseLong(parts[2]), Instant.parse(parts[3]));
    }
  }

  void add(Kind kind, String who, long token) throws IOException {
    Files.writeString(
        file,
        "%s %s %d %s\n".formatted(kind, who, token, Instant.now()),
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  List<Line> lines() throws IOException {
    try {
      return Files.readAllLines(file).stream().map(Line::parse).toList();
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  List<Line> lines(Kind kind) throws IOException {
    return lines().stream().filter(line -> line.kind() == kind).toList();
  }
}
