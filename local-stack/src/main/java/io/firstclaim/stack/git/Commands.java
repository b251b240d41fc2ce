package io.firstclaim.stack.git;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Programs that are run to their end. */
public final class Commands {
  private Commands() {}

  /**
   * Runs one, and has what it prints, without the end of the last line.
   *
   * @throws IOException if it fails, with what it printed
   */
  public static String run(Path directory, List<String> command)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toAbsolutePath().toFile())
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException("%s failed: %s".formatted(String.join(" ", command), printed));
    }
    return printed.strip();
  }

  /** The same. */
  public static String run(Path directory, String... command)
      throws IOException, InterruptedException {
    return run(directory, List.of(command));
  }
}
