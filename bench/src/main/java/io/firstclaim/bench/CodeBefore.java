package io.firstclaim.bench;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.handler.RecordHandler;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The product's code at a commit, built in a worktree that is removed again. Its jars stay under
 * {@code target}, so that they are built once.
 *
 * @param commit its full name
 * @param jars the product's and the libraries' that it was built with
 */
record CodeBefore(String commit, Path jars) {
  /** One public class of each module that is measured. */
  private static final List<Class<?>> MEASURED =
      List.of(
          ClaimStore.class,
          DynamoDbClaimStore.class,
          S3ClaimStore.class,
          RecordHandler.class,
          Engine.class,
          Dataset.class,
          Audit.class);

  /** In the order in which they are searched. */
  private static final List<String> FOLDERS = List.of("own", "lib");

  /** The code at a commit of this checkout, by any name that Git knows. */
  static CodeBefore of(String name) throws IOException, InterruptedException {
    String commit = Commands.run(Path.of(""), "git", "rev-parse", "--verify", name + "^{commit}");
    Path jars = Path.of("target", "before", commit).toAbsolutePath();
    if (Files.notExists(jars)) {
      System.out.println("  building " + commit);
      build(commit, jars);
    }
    return new CodeBefore(commit, jars);
  }

  private static void build(String commit, Path jars) throws IOException, InterruptedException {
    Path worktree = Files.createTempDirectory("firstclaim-before-");
    Commands.run(Path.of(""), "git", "worktree", "add", "--detach", worktree.toString(), commit);
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
      Commands.run(worktree, maven);
      for (String folder : FOLDERS) {
        copy(worktree.resolve("processor/service/target").resolve(folder), jars.resolve(folder));
      }
    } finally {
      Commands.run(Path.of(""), "git", "worktree", "remove", "--force", worktree.toString());
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

  /** A folder of the checkout, as it is now. */
  Path checkout(String folder) throws IOException, InterruptedException {
    return Path.of(Commands.run(Path.of(""), "git", "rev-parse", "--show-toplevel"), folder);
  }

  /** The files right in a folder, as they were. */
  Path files(String folder) throws IOException, InterruptedException {
    Path root = checkout("");
    Path copies = jars.resolve(folder);
    Files.createDirectories(copies);
    String names = Commands.run(root, "git", "ls-tree", "--name-only", commit, folder + "/");
    for (String name : names.lines().filter(each -> each.endsWith(".java")).toList()) {
      Files.writeString(
          copies.resolve(Path.of(name).getFileName()),
          Commands.run(root, "git", "show", commit + ":" + name));
    }
    return copies;
  }

  /** Today's class path with this code in place of today's, and its libraries before today's. */
  String classPath() throws IOException {
    List<String> entries = new ArrayList<>();
    for (String folder : FOLDERS) {
      try (Stream<Path> files = Files.list(jars.resolve(folder))) {
        files.sorted().map(Path::toString).forEach(entries::add);
      }
    }
    List<Path> replaced = MEASURED.stream().map(CodeBefore::locationOf).toList();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (!replaced.contains(Path.of(entry).toAbsolutePath())) {
        entries.add(entry);
      }
    }
    return String.join(File.pathSeparator, entries);
  }

  private static Path locationOf(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
