package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The package as it was at another commit, built from Git in a worktree that is removed again. What
 * was built stays under {@code target}.
 */
final class EarlierVersion {
  /** Beside the package's jar, whose class path names what is in them. */
  private static final List<String> FOLDERS = List.of("own", "lib");

  private EarlierVersion() {}

  /**
   * The jar of the package at a commit of this checkout, by any name that Git knows; built once.
   */
  static synchronized Path at(String name) throws IOException, InterruptedException {
    Path here = Path.of("").toAbsolutePath();
    String commit = run(here, List.of("git", "rev-parse", "--verify", name + "^{commit}")).strip();
    Path built = here.resolve("target").resolve("earlier").resolve(commit);
    Path jar = built.resolve(Zone.JAR.getFileName());
    if (Files.notExists(jar)) {
      build(commit, built);
    }
    return jar;
  }

  private static void build(String commit, Path to) throws IOException, InterruptedException {
    Path here = Path.of("").toAbsolutePath();
    Path worktree = Files.createTempDirectory("earlier-");
    String _ =
        run(here, List.of("git", "worktree", "add", "--detach", worktree.toString(), commit));
    try {
      List<String> maven =
          List.of(
              Path.of(System.getProperty("maven.home"), "bin", "mvn").toString(),
              "--batch-mode",
              "--quiet",
              "-Dmaven.repo.local=" + System.getProperty("maven.repo.local"),
              "-Dmaven.test.skip=true",
              "-DskipFormat=true",
              "--projects",
              "processor/service",
              "--also-make",
              "package");
      String _ = run(worktree, maven);
      Path target = worktree.resolve("processor/service/target");
      for (String folder : FOLDERS) {
        copy(target.resolve(folder), to.resolve(folder));
      }
      Files.copy(target.resolve(Zone.JAR.getFileName()), to.resolve(Zone.JAR.getFileName()));
    } finally {
      String _ = run(here, List.of("git", "worktree", "remove", "--force", worktree.toString()));
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  /** What a command printed, which must succeed. */
  private static String run(Path directory, List<String> command)
      throws IOException, InterruptedException {
    File output = File.createTempFile("earlier-", ".log");
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(output)
              .start();
      int exitCode = process.waitFor();
      String printed = Files.readString(output.toPath(), UTF_8);
      assertThat(exitCode).as("%s: %s", command, printed).isZero();
      return printed;
    } finally {
      Files.delete(output.toPath());
    }
  }
}
