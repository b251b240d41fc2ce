package io.firstclaim.bench;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.stack.git.Commands;
import io.firstclaim.stack.git.EarlierPackage;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The product's code at a commit.
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

  /** The code at a commit of this checkout, by any name that Git knows. */
  static CodeBefore of(String name) throws IOException, InterruptedException {
    EarlierPackage before = EarlierPackage.of(name);
    return new CodeBefore(before.commit(), before.folder());
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
    for (String folder : EarlierPackage.FOLDERS) {
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
