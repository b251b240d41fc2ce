package io.firstclaim.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.simulation.SimulationProcess.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Whole engines in seeded worlds. */
class SimulationTest {
  private static final boolean SOAK = Boolean.getBoolean("soak");
  private static final int RUNS = SOAK ? 350 : 40;
  private static final List<String> C1 = List.of("-XX:TieredStopAtLevel=1");

  @TempDir private static Path folder;
  private static SimulationProcess simulation;

  @BeforeAll
  static void prepare() throws IOException {
    simulation = new SimulationProcess(folder);
  }

  /** A run that reaches little proves little: what is asked of forty is about half of what is. */
  @Test
  void noFault_breaksAnInvariant_andEnoughIsReached() {
    Output output = simulation.run(1, RUNS, List.of(), List.of());

    assertThat(output.invariants()).as(() -> String.join("\n", output.lines())).isEmpty();
    assertThat(output.faults()).isGreaterThanOrEqualTo(SOAK ? 10_000 : 1000);
    Map.of(
            "takeovers", 200,
            "dead letters", 50,
            "done", 1800,
            "overlapping runs", 50,
            "fault: kill", 60,
            "fault: pause", 60,
            "fault: rewind", 30,
            "fault: stop", 30,
            "fault: answer lost", 40,
            "fault: store down", 30)
        .forEach(
            (what, least) ->
                assertThat(output.reached().getOrDefault(what, 0))
                    .as(what)
                    .isGreaterThanOrEqualTo(SOAK ? least * 8 : least));
  }

  @Test
  void aSeed_hasOneCourse_aloneAndInABatch_onBothCompilers() {
    Output batch = simulation.run(5, 3, List.of(), List.of());
    Output alone = simulation.run(6, 1, C1, List.of());

    assertThat(alone.hashes()).containsEntry(6L, batch.hashes().get(6L));
  }

  @Test
  @EnabledIfSystemProperty(named = "soak", matches = "true")
  void aSeed_hasOneCourse_withoutACompiler() {
    Output compiled = simulation.run(9, 2, List.of(), List.of());
    Output interpreted = simulation.run(9, 2, List.of("-Xint"), List.of());

    assertThat(interpreted.hashes()).isEqualTo(compiled.hashes());
  }
}
