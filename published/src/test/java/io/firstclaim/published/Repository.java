package io.firstclaim.published;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What is published, laid out as a Maven repository: the folder that {@code mvn -Prelease} has
 * left, or what the modules of this build would put there.
 */
record Repository(Path folder, List<Artifact> artifacts, boolean isReleases) {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  /** That of the release, if the build was told where it is, else one that is made here. */
  static Repository make(Path folder) throws IOException {
    String release = System.getProperty("published.repository", "");
    return release.isEmpty() ? ofTheBuild(folder) : of(Path.of(release), true);
  }

  private static Repository of(Path folder, boolean isReleases) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      List<Artifact> artifacts =
          all.filter(file -> file.toString().endsWith(".pom"))
              .sorted()
              .map(Artifact::read)
              .toList();
      return new Repository(folder, artifacts, isReleases);
    }
  }

  private static Repository ofTheBuild(Path folder) throws IOException {
    List<Path> poms;
    try (Stream<Path> all =
        Files.find(ROOT, 5, (file, _) -> file.endsWith(Path.of("target", ".flattened-pom.xml")))) {
      poms = all.toList();
    }
    for (Path pom : poms) {
      Artifact artifact = Artifact.read(pom);
      Optional<Path> jar = artifact.jarOfTheBuild();
      // The POMs that only gather modules are not published.
      if (jar.isPresent() || artifact.name().endsWith("-bom")) {
        Path place = Files.createDirectories(folder.resolve(artifact.folder()));
        Files.copy(pom, place.resolve(artifact.fileName(".pom")));
        if (jar.isPresent()) {
          Files.copy(jar.get(), place.resolve(artifact.fileName(".jar")));
        }
      }
    }
    return of(folder, false);
  }

  List<Artifact> libraries() {
    return artifacts.stream().filter(Artifact::isLibrary).toList();
  }

  Artifact bom() {
    return artifacts.stream().filter(each -> !each.isLibrary()).findFirst().orElseThrow();
  }

  /** A file of an artifact, such as its {@code .jar}. */
  Path file(Artifact artifact, String ending) {
    return folder.resolve(artifact.folder()).resolve(artifact.fileName(ending));
  }

  /**
   * The version of what a library needs.
   *
   * @param dependency {@code group:artifact}
   */
  String version(String library, String dependency) {
    return libraries().stream()
        .filter(each -> each.name().equals(library))
        .flatMap(each -> each.elements("dependencies/dependency").stream())
        .filter(
            each ->
                dependency.equals(
                    Artifact.child(each, "groupId") + ":" + Artifact.child(each, "artifactId")))
        .map(each -> Artifact.child(each, "version"))
        .findFirst()
        .orElseThrow();
  }
}
