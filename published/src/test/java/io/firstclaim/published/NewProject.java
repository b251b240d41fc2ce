package io.firstclaim.published;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A project of somebody who has nothing of ours but a repository of what is published: outside the
 * tree, with an empty local repository. What is others' comes from this machine's own local
 * repository, so that no build waits for a network, and else from Central.
 */
final class NewProject {
  private static final String GROUP = "com.example";
  private static final String CLASS_PATH = "classpath.txt";

  private final Path folder;
  private final Path local;
  private final Repository published;
  private final Map<String, String> modules = new TreeMap<>();

  NewProject(Path folder, Repository published) throws IOException {
    this.folder = Files.createDirectory(folder.resolve("project"));
    this.local = Files.createDirectory(folder.resolve("repository"));
    this.published = published;
  }

  /**
   * A module of it.
   *
   * @param dependencies {@code group:artifact}, with {@code :version} if the bill of materials has
   *     none
   * @return its folder, for its sources
   */
  Path needing(String name, String... dependencies) throws IOException {
    StringBuilder all = new StringBuilder();
    for (String each : dependencies) {
      String[] parts = each.split(":", -1);
      all.append(
          "<dependency><groupId>%s</groupId><artifactId>%s</artifactId>"
              .formatted(parts[0], parts[1]));
      all.append(parts.length > 2 ? "<version>%s</version>".formatted(parts[2]) : "");
      all.append("</dependency>");
    }
    modules.put(
        name,
        """
        <project xmlns="http://maven.apache.org/POM/4.0.0">
          <modelVersion>4.0.0</modelVersion>
          <parent><groupId>%s</groupId><artifactId>new</artifactId><version>1</version></parent>
          <artifactId>%s</artifactId>
          <dependencies>%s</dependencies>
        </project>
        """
            .formatted(GROUP, name, all));
    return Files.createDirectories(folder.resolve(name));
  }

  /**
   * A module that has nothing of the project's.
   *
   * @param pom its own, whole
   * @return its folder, for its sources
   */
  Path module(String name, String pom) throws IOException {
    modules.put(name, pom);
    return Files.createDirectories(folder.resolve(name));
  }

  /** Compiles it, and writes down what each module needs to run. */
  void build() throws IOException, InterruptedException {
    for (Map.Entry<String, String> module : modules.entrySet()) {
      Files.writeString(folder.resolve(module.getKey()).resolve("pom.xml"), module.getValue());
    }
    Files.writeString(folder.resolve("pom.xml"), parent());
    Path settings = Files.writeString(folder.resolve("settings.xml"), settings());
    Path log = folder.resolve("maven.log");
    ProcessBuilder maven =
        new ProcessBuilder(
                Path.of(System.getProperty("maven.home"), "bin", "mvn").toString(),
                "--batch-mode",
                "--no-transfer-progress",
                "--settings",
                settings.toString(),
                "-Dmaven.repo.local=" + local,
                "compile",
                "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath",
                "-Dmdep.includeScope=runtime",
                "-Dmdep.outputFile=" + CLASS_PATH)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    maven.environment().put("JAVA_HOME", System.getProperty("java.home"));
    maven.environment().remove("MAVEN_OPTS");
    Process process = maven.start();
    boolean ended = process.waitFor(20, TimeUnit.MINUTES);
    if (!ended) {
      process.destroyForcibly();
    }
    assertThat(ended && process.exitValue() == 0).as(Files.readString(log)).isTrue();
  }

  private String parent() {
    return """
    <project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <groupId>%s</groupId>
      <artifactId>new</artifactId>
      <version>1</version>
      <packaging>pom</packaging>
      <modules>%s</modules>
      <properties>
        <maven.compiler.release>25</maven.compiler.release>
        <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
      </properties>
      <dependencyManagement>
        <dependencies>
          <dependency>
            <groupId>io.firstclaim</groupId>
            <artifactId>firstclaim-bom</artifactId>
            <version>%s</version>
            <type>pom</type>
            <scope>import</scope>
          </dependency>
        </dependencies>
      </dependencyManagement>
      <build>
        <pluginManagement>
          <plugins>
            <plugin><artifactId>maven-resources-plugin</artifactId><version>3.5.0</version></plugin>
            <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.14.1</version></plugin>
          </plugins>
        </pluginManagement>
      </build>
    </project>
    """
        .formatted(
            GROUP,
            modules.keySet().stream()
                .map("<module>%s</module>"::formatted)
                .collect(Collectors.joining()),
            published.bom().version());
  }

  private String settings() {
    String cache = Path.of(System.getProperty("local.repository")).toUri().toString();
    return """
    <settings xmlns="http://maven.apache.org/SETTINGS/1.2.0">
      <profiles>
        <profile>
          <id>here</id>
          <repositories>
            <repository><id>published</id><url>%s</url></repository>
            <repository>
              <id>others</id><url>%s</url>
              <releases><checksumPolicy>ignore</checksumPolicy></releases>
            </repository>
          </repositories>
          <pluginRepositories>
            <pluginRepository>
              <id>others</id><url>%s</url>
              <releases><checksumPolicy>ignore</checksumPolicy></releases>
            </pluginRepository>
          </pluginRepositories>
        </profile>
      </profiles>
      <activeProfiles><activeProfile>here</activeProfile></activeProfiles>
    </settings>
    """
        .formatted(published.folder().toUri(), cache, cache);
  }

  /** The local repository, which was empty. */
  Path local() {
    return local;
  }

  String classPath(String module) throws IOException {
    return Files.readString(folder.resolve(module).resolve(CLASS_PATH)).strip();
  }

  /** What a module needs to run: {@code group:artifact}. */
  List<String> needs(String module) throws IOException {
    return Stream.of(classPath(module).split(File.pathSeparator))
        .filter(jar -> !jar.isEmpty())
        .map(jar -> local.relativize(Path.of(jar)))
        .map(NewProject::coordinates)
        .distinct()
        .sorted()
        .toList();
  }

  /** Of {@code org/slf4j/slf4j-api/2.0.17/slf4j-api-2.0.17.jar}. */
  private static String coordinates(Path jar) {
    int names = jar.getNameCount();
    String group = jar.subpath(0, names - 3).toString().replace(File.separatorChar, '.');
    return group + ":" + jar.getName(names - 3);
  }

  /** The class path with what a module has compiled. */
  String ownClassPath(String module) throws IOException {
    return String.join(
        File.pathSeparator,
        List.of(folder.resolve(module).resolve("target/classes").toString(), classPath(module)));
  }
}
