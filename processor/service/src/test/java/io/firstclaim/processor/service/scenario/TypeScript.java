package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** TypeScript's own compiler, and the types of Node's standard library, out of their webjars. */
final class TypeScript {
  private static final Map<String, String> MODULES =
      Map.of(
          "typescript", "typescript",
          "types__node", "@types/node",
          "undici-types", "undici-types");

  private TypeScript() {}

  /**
   * Checks a program, strictly, and makes JavaScript of it, which any Node runs.
   *
   * @param source a module that has nothing but types to be taken away
   * @param folder where it is done
   */
  static Path compile(Path source, Path folder) throws IOException, InterruptedException {
    for (Map.Entry<String, String> each : MODULES.entrySet()) {
      unpack(each.getKey(), folder.resolve("node_modules").resolve(each.getValue()));
    }
    String name = source.getFileName().toString();
    Files.copy(source, folder.resolve(name));
    Path log = folder.resolve("tsc.log");
    Process compiler =
        new ProcessBuilder(
                Stream.of(
                        List.of("node", "node_modules/typescript/lib/tsc.js", name),
                        List.of("--strict", "--noEmitOnError", "--erasableSyntaxOnly"),
                        List.of("--verbatimModuleSyntax", "--target", "es2022"),
                        List.of("--module", "nodenext", "--types", "node"))
                    .flatMap(List::stream)
                    .toList())
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    boolean ended = compiler.waitFor(Scenario.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    if (!ended) {
      compiler.destroyForcibly();
    }
    assertThat(ended && compiler.exitValue() == 0).as(Files.readString(log)).isTrue();
    return folder.resolve(name.replace(".mts", ".mjs"));
  }

  private static void unpack(String webjar, Path to) throws IOException {
    String properties = "/META-INF/maven/org.webjars.npm/%s/pom.properties".formatted(webjar);
    URL found = Objects.requireNonNull(TypeScript.class.getResource(properties), properties);
    Path jar = jar(found);
    try (FileSystem inside = FileSystems.newFileSystem(jar);
        Stream<Path> versions = Files.list(inside.getPath("META-INF/resources/webjars", webjar))) {
      Path root = versions.findFirst().orElseThrow();
      try (Stream<Path> all = Files.walk(root)) {
        all.filter(Files::isRegularFile)
            .forEach(file -> copy(file, to.resolve(root.relativize(file).toString())));
      }
    }
  }

  private static Path jar(URL inside) {
    try {
      String jar = inside.getPath().substring(0, inside.getPath().indexOf('!'));
      return Path.of(new java.net.URI(jar));
    } catch (URISyntaxException e) {
      throw new IllegalStateException(inside + " is in no jar", e);
    }
  }

  private static void copy(Path file, Path to) {
    try {
      Files.createDirectories(Objects.requireNonNull(to.getParent()));
      Files.copy(file, to);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
