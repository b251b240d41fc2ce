package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.processor.service.scenario.handler.Plain;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Handlers of a user's in a jar of their own, beside the package. */
@Execution(ExecutionMode.SAME_THREAD) // the runs of a test share a log
class HandlerJarIT {
  @TempDir static Path folder;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 1);

  @BeforeAll
  static void makeJar() throws Exception {
    HandlerJar.write(folder, Plain.class);
  }

  /** In a build by one name, in a soak by all that it has. */
  static Stream<String> names() {
    return Stream.of("Plain", "my-bean", "io.firstclaim.processor.service.scenario.handler.Plain")
        .limit(Soak.times(1, 3));
  }

  @ParameterizedTest
  @MethodSource("names")
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
