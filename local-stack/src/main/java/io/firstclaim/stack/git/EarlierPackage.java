package io.firstclaim.stack.git;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The packaged service as it was at a commit of this checkout, built in a worktree that is removed
 * again. It stays under {@code target} of the module that asks for it, so that it is built once. By
 * the system properties {@code maven.home}, {@code maven.repo.local} and {@code maven.offline}.
 *
 * @param commit its full name
 * @param folder has the jar, and the folders that its class path names
 */
public record EarlierPackage(String commit, Path folder) {
  /** Firstclaim's own jars, and the libraries': in the order in which they are searched. */
  public static final List<String> FOLDERS = List.of("own", "lib");

  /**
   * That of a commit, by any name that Git knows.
   *
   * @throws IOException if there is no such commit, or it cannot be built
   */
  public static synchronized EarlierPackage of(String name)
      throws IOException, InterruptedException {
    String commit = Commands.run(Path.of(""), "git", "rev-parse", "--verify", name + "^{commit}");
    Path folder = Path.of("target", "before", commit).toAbsolutePath();
    EarlierPackage made = new EarlierPackage(commit, folder);
    if (Files.notExists(folder)) {
      System.out.println("  building " + commit);
      made.build();
    }
    return made;
  }

  private void build() throws IOException, InterruptedException {
    Path worktree = Files.createTempDirectory("firstclaim-before-");
    var _ =
        Commands.run(
            Path.of(""), "git", "worktree", "add", "--detach", worktree.toString(), commit);
    try {
      List<String> maven =
          new ArrayList<>(
              List.of(Path.of(System.getProperty("maven.home"), "bin", "mvn").toString()));
      if (Boolean.getBoolean("maven.offline")) {
        maven.add("--offline");
      }
      maven.addAll(
          List.of(
              "--batch-mode",
              "--quiet",
              "-Dmaven.repo.local=" + System.getProperty("maven.repo.local"),
              "-Dmaven.test.skip=true",
              "-DskipFormat=true",
              "-Dchecks=-Xdiags:compact", // no Error Prone, which is half of the compilation
              "--projects",
              "processor/service",
              "--also-make",
              "package"));
      var _ = Commands.run(worktree, maven);
      Path target = worktree.resolve("processor/service/target");
      for (String each : FOLDERS) {
        copy(target.resolve(each), folder.resolve(each));
      }
      copy(target, folder);
    } finally {
      var _ =
          Commands.run(Path.of(""), "git", "worktree", "remove", "--force", worktree.toString());
    }
  }

  /** The jars that are right in a folder. */
  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    for (Path file : jars(from)) {
      Files.copy(file, to.resolve(file.getFileName()));
    }
  }

  private static List<Path> jars(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    }
  }

  /** The jar that starts it. */
  public Path jar() throws IOException {
    return jars(folder).getFirst();
  }
}
