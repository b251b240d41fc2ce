package io.firstclaim.published;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.DynamoDbServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is published is complete for Central, and brings its users what it needs and no more. */
class PublishedIT {
  private static final String SAMPLE = "sample";

  /** What the bill of materials may leave to whoever imports it: Maven takes it for its own. */
  private static final String OWN_VERSION = "${project.version}";

  /** For those who write tests; it brings JUnit. */
  private static final String TESTKIT = "firstclaim-lock-testkit";

  @TempDir private static Path folder;
  private static @Nullable Repository made;
  private static @Nullable NewProject used;

  private static Repository repository() {
    return Objects.requireNonNull(made);
  }

  private static NewProject project() {
    return Objects.requireNonNull(used);
  }

  @BeforeAll
  static void buildAProjectThatUsesEachLibrary() throws IOException, InterruptedException {
    made = Repository.make(folder.resolve("published"));
    NewProject project = new NewProject(folder, made);
    for (Artifact library : made.libraries()) {
      Path _ = project.needing(library.name(), "io.firstclaim:" + library.name());
    }
    Samples samples = new Samples(Page.of("README.md"));
    samples.library(
        project.needing(
            SAMPLE,
            "io.firstclaim:firstclaim-lock-dynamodb",
            "software.amazon.awssdk:apache5-client:"
                + made.version("firstclaim-lock-dynamodb", "software.amazon.awssdk:dynamodb")));
    samples.engine(
        project.needing(
            "sample-engine",
            "io.firstclaim:firstclaim-engine",
            "io.firstclaim:firstclaim-lock-dynamodb"));
    samples.handler(project.needing("sample-handler", "io.firstclaim:firstclaim-handler-api"));
    project.build();
    used = project;
  }

  @Test
  void librariesAreThoseThatTheReadmeSpeaksOf() {
    assertThat(repository().libraries())
        .extracting(Artifact::name)
        .contains(
            "firstclaim-lock",
            "firstclaim-lock-dynamodb",
            "firstclaim-lock-s3",
            TESTKIT,
            "firstclaim-handler-api",
            "firstclaim-engine",
            "firstclaim-listener",
            "firstclaim-spring-boot-starter",
            "firstclaim-micronaut")
        .doesNotContain(
            "local-stack",
            "bench",
            "simulation",
            "published",
            "firstclaim-lock-model",
            "firstclaim-service",
            "firstclaim-audit",
            "firstclaim-dataset")
        .allMatch(name -> name.startsWith("firstclaim-"));
  }

  @Test
  void everyPom_standsAlone_withWhatCentralAsksFor() throws IOException {
    for (Artifact each : repository().artifacts()) {
      for (String asked :
          List.of(
              "groupId",
              "artifactId",
              "version",
              "name",
              "description",
              "url",
              "licenses/license/name",
              "licenses/license/url",
              "developers/developer/name",
              "scm/connection",
              "scm/developerConnection",
              "scm/url")) {
        assertThat(each.texts(asked)).as("%s of %s", asked, each).isNotEmpty().doesNotContain("");
      }
      for (String none : List.of("parent", "properties", "repositories", "build", "profiles")) {
        assertThat(each.elements(none)).as("%s of %s", none, each).isEmpty();
      }
      assertThat(each.elements("dependencyManagement").isEmpty())
          .as("%s manages nothing but its own", each)
          .isEqualTo(each.isLibrary());
      assertThat(Files.readString(each.file()).replace(OWN_VERSION, each.version()))
          .doesNotContain("${", "SNAPSHOT");
      assertThat(each.texts("developers/developer/name"))
          .containsExactly("Firstclaim contributors");
      assertThat(each.texts("scm/url"))
          .as("the module's name is not added")
          .noneMatch(url -> url.contains(each.name()));
    }
  }

  @Test
  void billOfMaterials_hasEveryLibrary_andNothingElse() {
    List<org.w3c.dom.Element> managed =
        repository().bom().elements("dependencyManagement/dependencies/dependency");
    assertThat(managed)
        .extracting(each -> Artifact.child(each, "artifactId"))
        .containsExactlyInAnyOrderElementsOf(
            repository().libraries().stream().map(Artifact::name).toList());
    assertThat(managed)
        .allMatch(each -> Artifact.child(each, "groupId").equals("io.firstclaim"))
        .allMatch(each -> Artifact.child(each, "version").equals(OWN_VERSION));
  }

  @Test
  void everyJar_namesItsModule_andNoPackageIsInTwo() throws IOException {
    Map<String, String> modules = new TreeMap<>();
    Map<String, String> packages = new TreeMap<>();
    for (Artifact each : repository().libraries()) {
      try (JarFile jar = new JarFile(repository().file(each, ".jar").toFile())) {
        String module = jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name");
        assertThat(module).as("Automatic-Module-Name of %s", each).startsWith("io.firstclaim.");
        assertThat(modules.put(module, each.name())).as("who else is %s", module).isNull();
        Set<String> own =
            jar.stream()
                .map(entry -> entry.getName())
                .filter(name -> name.endsWith(".class"))
                .map(name -> name.substring(0, name.lastIndexOf('/')))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(own).as("packages of %s", each).isNotEmpty();
        for (String name : own) {
          assertThat(packages.put(name, each.name())).as("who else has %s", name).isNull();
        }
      }
    }
  }

  @Test
  void eachLibrary_isResolvedFromThatFolderAlone() throws IOException {
    Path ours = project().local().resolve("io/firstclaim");
    for (Artifact each : repository().artifacts()) {
      Path from = ours.resolve(Path.of(each.name(), each.version(), "_remote.repositories"));
      assertThat(Files.readString(from))
          .contains(">published=")
          .doesNotContain(">others=", ">central=");
    }
    try (Stream<Path> names = Files.list(ours)) {
      assertThat(names)
          .as("no other of ours, such as a parent")
          .extracting(name -> name.getFileName().toString())
          .containsExactlyInAnyOrderElementsOf(
              repository().artifacts().stream().map(Artifact::name).toList());
    }
  }

  @Test
  void noLibrary_bringsItsUsers_whatOnlyWeBuildWith() throws IOException {
    for (Artifact each : repository().libraries()) {
      List<String> needs = project().needs(each.name());
      assertThat(needs)
          .as("what %s brings", each)
          .noneMatch(it -> it.startsWith("org.apache.kafka:") && !it.endsWith(":kafka-clients"))
          .noneMatch(it -> it.matches("org\\.mockito:.*|com\\.code-intelligence:.*|org\\.gaul:.*"))
          .noneMatch(it -> it.startsWith("ch.qos.logback:") && !each.name().contains("spring"))
          .noneMatch(it -> it.startsWith("io.micronaut") && !each.name().contains("micronaut"));
      if (!each.name().equals(TESTKIT)) {
        assertThat(needs)
            .as("what %s brings", each)
            .noneMatch(it -> it.matches("org\\.(junit|assertj|awaitility|opentest4j).*"));
      }
    }
    assertThat(project().local().resolve("io/micronaut/platform"))
        .as("not even to look up versions in")
        .doesNotExist();
    assertThat(project().needs("firstclaim-lock"))
        .containsExactly(
            "io.firstclaim:firstclaim-lock", "org.jspecify:jspecify", "org.slf4j:slf4j-api");
    assertThat(project().needs("firstclaim-lock-dynamodb"))
        .as("the caller chooses the HTTP client")
        .contains("software.amazon.awssdk:dynamodb")
        .noneMatch(it -> it.matches(".*:(netty-nio-client|apache-client|apache5-client)"));
  }

  @Test
  void sampleOfTheReadme_copiedIntoAnEmptyProject_hasItsEffectOnce() {
    try (DynamoDbServer server = DynamoDbServer.start(JvmTuning.SHORT_RUN)) {
      assertThat(run(server, "first")).contains("charged 100 EUR", "200 receipt");
      assertThat(run(server, "second")).contains("200 receipt").doesNotContain("charged");
    }
  }

  private static String run(DynamoDbServer server, String name) {
    JvmCommand command =
        JvmCommand.ofMain(name, classPath(), "com.example.Sample")
            .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
            .withEnv(server.environment());
    try (ChildJvm child = ChildJvm.start(command, folder.resolve(name + ".log"))) {
      assertThat(child.waitFor(Duration.ofMinutes(10))).isTrue();
      assertThat(child.exitCode()).as(child::logTail).isZero();
      return child.logTail();
    }
  }

  private static String classPath() {
    try {
      return project().ownClassPath(SAMPLE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void everyReleasedFile_hasItsChecksums_andEachLibraryItsSourcesAndJavadoc() throws Exception {
    assumeThat(repository().isReleases()).as("-Dpublished.repository is given").isTrue();
    List<Path> files = new ArrayList<>();
    for (Artifact each : repository().artifacts()) {
      files.add(each.file());
      for (String ending :
          each.isLibrary() ? List.of(".jar", "-sources.jar", "-javadoc.jar") : List.<String>of()) {
        Path file = repository().file(each, ending);
        assertThat(file).isNotEmptyFile();
        files.add(file);
      }
    }
    for (Path file : files) {
      for (String sum : List.of("MD5", "SHA-1")) {
        byte[] digest = MessageDigest.getInstance(sum).digest(Files.readAllBytes(file));
        Path beside = Path.of(file + "." + sum.replace("-", "").toLowerCase(java.util.Locale.ROOT));
        assertThat(beside).hasContent(HexFormat.of().formatHex(digest));
      }
    }
  }
}
