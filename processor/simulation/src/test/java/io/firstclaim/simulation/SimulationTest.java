package io.firstclaim.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.simulation.SimulationProcess.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Whole engines in seeded worlds. */
class SimulationTest {
  private static final boolean SOAK = Boolean.getBoolean("soak");
  private static final int RUNS = SOAK ? 200 : 9;

  /** Two hundred runs must reach so many times as much. */
  private static final int TIMES = SOAK ? 10 : 1;

  private static final int EIGHT_HOURS = 8 * 3600;

  /** What nine runs must reach: half of what they do. */
  private static final Map<String, Integer> LEAST =
      Map.ofEntries(
          Map.entry("takeovers", 105),
          Map.entry("dead letters", 35),
          Map.entry("done", 600),
          Map.entry("overlapping runs", 34),
          Map.entry("lost answers recognised", 25),
          Map.entry("zombies fenced", 5),
          Map.entry("rebalances with work in flight", 52),
          Map.entry("batches half refused", 12),
          Map.entry("outages over a lease", 24),
          Map.entry("redrives", 24),
          Map.entry("releases by operators", 26),
          Map.entry("mutexes held", 123),
          Map.entry("resources used", 68),
          Map.entry("jobs done before", 166),
          Map.entry("swept", 10),
          Map.entry("fault: kill", 37),
          Map.entry("fault: pause", 38),
          Map.entry("fault: rewind", 11),
          Map.entry("fault: stop", 11),
          Map.entry("fault: double", 15),
          Map.entry("fault: cut off", 26),
          Map.entry("fault: clock leap", 25),
          Map.entry("fault: answer lost", 99),
          Map.entry("fault: internal error after the write", 29),
          Map.entry("fault: store down", 13));

  @TempDir private static Path folder;
  private static SimulationProcess simulation;

  /** What the seeds from 1 on come to, one after the other in one process. */
  private static Output output;

  @BeforeAll
  static void simulate() throws IOException {
    simulation = new SimulationProcess(folder);
    output = simulation.run(1, RUNS, SimulationProcess.C1, List.of());
  }

  /** A run that reaches little proves little. */
  @Test
  void noFault_breaksAnInvariant_andEnoughIsReached() {
    System.out.printf("%d faults, %s%n", output.faults(), new TreeMap<>(output.reached()));
    assertThat(output.invariants()).as(() -> String.join("\n", output.lines())).isEmpty();
    assertThat(output.faults()).isGreaterThanOrEqualTo(SOAK ? 10_000 : 1000);
    assertThat(output.simulatedSeconds()).isGreaterThanOrEqualTo(SOAK ? EIGHT_HOURS : 1000);
    LEAST.forEach(
        (what, least) ->
            assertThat(output.reached().getOrDefault(what, 0))
                .as(what)
                .isGreaterThanOrEqualTo(least * TIMES));
  }

  @Test
  void aSeed_hasOneCourse_aloneAndInABatch_onBothCompilers() {
    Output alone = simulation.run(6, 1, List.of(), List.of());

    assertThat(alone.hashes()).containsOnlyKeys(6L).containsEntry(6L, output.hashes().get(6L));
  }

  /** Without a compiler everything takes thirty times as long. */
  @Test
  @EnabledIfSystemProperty(named = "soak", matches = "true")
  void tenSeeds_haveOneCourseEach_onEveryJvm() {
    Output compiled = simulation.run(9, 10, List.of(), List.of());
    Output quickly = simulation.run(9, 10, SimulationProcess.C1, List.of());
    Output interpreted = simulation.run(9, 10, List.of("-Xint"), List.of());

    assertThat(quickly.hashes()).hasSize(10).isEqualTo(compiled.hashes());
    assertThat(interpreted.hashes()).isEqualTo(compiled.hashes());
  }
}
