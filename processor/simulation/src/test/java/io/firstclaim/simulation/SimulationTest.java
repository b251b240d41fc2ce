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
  private static final int RUNS = SOAK ? 250 : 30;
  private static final List<String> C1 = List.of("-XX:TieredStopAtLevel=1");

  /** What 30 runs must reach: a third of what they do, or a half. */
  private static final Map<String, Integer> LEAST =
      Map.ofEntries(
          Map.entry("takeovers", 100),
          Map.entry("dead letters", 50),
          Map.entry("done", 1200),
          Map.entry("overlapping runs", 30),
          Map.entry("lost answers recognised", 15),
          Map.entry("zombies fenced", 3),
          Map.entry("rebalances with work in flight", 35),
          Map.entry("batches half refused", 10),
          Map.entry("outages over a lease", 15),
          Map.entry("redrives", 20),
          Map.entry("releases by operators", 20),
          Map.entry("mutexes held", 250),
          Map.entry("resources used", 150),
          Map.entry("jobs done before", 300),
          Map.entry("swept", 12),
          Map.entry("fault: kill", 25),
          Map.entry("fault: pause", 35),
          Map.entry("fault: rewind", 10),
          Map.entry("fault: stop", 8),
          Map.entry("fault: double", 8),
          Map.entry("fault: cut off", 15),
          Map.entry("fault: clock leap", 20),
          Map.entry("fault: answer lost", 60),
          Map.entry("fault: internal error after the write", 25),
          Map.entry("fault: store down", 10));

  @TempDir private static Path folder;
  private static SimulationProcess simulation;

  @BeforeAll
  static void prepare() throws IOException {
    simulation = new SimulationProcess(folder);
  }

  /** A run that reaches little proves little. */
  @Test
  void noFault_breaksAnInvariant_andEnoughIsReached() {
    Output output = simulation.run(1, RUNS, List.of(), List.of());

    assertThat(output.invariants()).as(() -> String.join("\n", output.lines())).isEmpty();
    assertThat(output.faults()).isGreaterThanOrEqualTo(SOAK ? 10_000 : 1000);
    LEAST.forEach(
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
