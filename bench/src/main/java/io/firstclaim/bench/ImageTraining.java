package io.firstclaim.bench;

import io.firstclaim.stack.git.Commands;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An AOT cache as the image has it: recorded by what {@code docker/Train*.java} does with the
 * libraries, which stay first on the class path.
 *
 * @param jar of the training
 * @param cache what it left
 */
record ImageTraining(Path jar, Path cache) {
  static final List<String> JVM_ARGS =
      List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");

  /** Trains, by all sources in a folder that are named as such. */
  static ImageTraining of(String name, Path sources, Path libraries)
      throws IOException, InterruptedException {
    Path folder = Path.of("target", "bench", "training-" + name).toAbsolutePath();
    Files.createDirectories(folder);
    String classPath = classPath(libraries);
    List<String> compile =
        new ArrayList<>(
            List.of("javac", "-proc:none", "-cp", classPath, "-d", folder + "/classes"));
    try (Stream<Path> files = Files.list(sources)) {
      files
          .filter(file -> file.getFileName().toString().matches("Train\\w*\\.java"))
          .map(Path::toString)
          .forEach(compile::add);
    }
    ImageTraining training =
        new ImageTraining(folder.resolve("train.jar"), folder.resolve("lib.aot"));
    run(compile);
    run(List.of("jar", "--create", "--file", "" + training.jar, "-C", folder + "/classes", "."));
    List<String> train = new ArrayList<>(List.of("java"));
    train.addAll(JVM_ARGS);
    train.addAll(
        List.of(
            "-XX:AOTCacheOutput=" + training.cache,
            "-cp",
            classPath + File.pathSeparator + training.jar,
            "Train"));
    run(train);
    return training;
  }

  /** All jars of a folder, in order. */
  static String classPath(Path folder) throws IOException {
    try (Stream<Path> jars = Files.list(folder)) {
      return jars.sorted().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }
  }

  private static void run(List<String> command) throws IOException, InterruptedException {
    List<String> ofThisJdk = new ArrayList<>(command);
    ofThisJdk.set(
        0, Path.of(System.getProperty("java.home"), "bin", command.getFirst()).toString());
    var _ = Commands.run(Path.of(""), ofThisJdk);
  }
}
