package io.firstclaim.stack.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A server's directory: one that is kept, or a temporary one that goes with the server. */
record WorkDirectory(Path path, boolean temporary) {

  static WorkDirectory kept(Path path) {
    try {
      return new WorkDirectory(Files.createDirectories(path).toAbsolutePath(), false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static WorkDirectory temporary(String prefix) {
    try {
      return new WorkDirectory(Files.createTempDirectory(prefix), true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What to delete when nobody else is left to do it. */
  List<Path> scratch() {
    return temporary ? List.of(path) : List.of();
  }

  void deleteIfTemporary() {
    if (!temporary) {
      return;
    }
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
