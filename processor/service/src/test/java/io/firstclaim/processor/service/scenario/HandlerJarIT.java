package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.processor.service.scenario.handler.Bean;
import io.firstclaim.processor.service.scenario.handler.Plain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Handlers of a user's in a jar of their own, beside the package. */
@Timeout(120)
@Execution(ExecutionMode.SAME_THREAD) // the runs of a test share a log
class HandlerJarIT {
  @TempDir static Path folder;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 1);

  /** A jar of the classes of a package, and of what Micronaut's annotation processor left. */
  @BeforeAll
  static void makeJar() throws Exception {
    Path classes = Path.of(Bean.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    String ours = Bean.class.getPackageName();
    try (JarOutputStream jar =
            new JarOutputStream(Files.newOutputStream(folder.resolve("handlers.jar")));
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.toList()) {
        String name = classes.relativize(file).toString();
        if (Files.isDirectory(file) && !name.isEmpty()) {
          jar.putNextEntry(new JarEntry(name + "/")); // Micronaut looks for folders
        } else if (name.contains(ours.replace('.', '/')) || name.contains(ours)) {
          jar.putNextEntry(new JarEntry(name));
          jar.write(Files.readAllBytes(file));
        }
      }
      jar.putNextEntry(new JarEntry("META-INF/services/" + RecordHandler.class.getName()));
      jar.write(Plain.class.getName().getBytes(UTF_8));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"my-bean", "Plain", "io.firstclaim.processor.service.scenario.handler.Plain"})
  void handlerInAJar_isFoundByItsName(String name) {
    Zone zone =
        scenario
            .zone("a")
            .set("FIRSTCLAIM_HANDLER_TYPE", name)
            .set("FIRSTCLAIM_HANDLER_PATH", folder.toString());
    scenario.start(zone);
    List<String> ids = List.of("one");
    scenario.feed().send(ids);
    scenario.awaitCompleted(ids);
    assertThat(zone.logText()).contains(name.replaceFirst(".*\\.", "") + " has one");
  }

  @Test
  void unknownHandler_endsTheStart_withThoseThereAre() throws IOException {
    Zone zone =
        scenario
            .zone("a")
            .set("FIRSTCLAIM_HANDLER_TYPE", "mine")
            .set("FIRSTCLAIM_HANDLER_PATH", folder.toString());
    zone.launch();
    assertThat(zone.awaitEnd(Scenario.PATIENCE)).isTrue();
    assertThat(zone.exitCode()).isOne();
    assertThat(zone.logText())
        .isEqualToIgnoringNewLines(
            "firstclaim: firstclaim.handler.type=mine: there is no such handler; give log (marks"
                + " all records done), http, topic, dataset or one of your handlers: Plain,"
                + " my-bean");
  }
}
