package io.firstclaim.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.simulation.SimulationProcess.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code -Dseed=N}: that one again, with all that happens; {@code -Dwith=CHANGES} for not quite as
 * the seed has it, {@code -Dshrink=RUNS} to leave out what it fails without.
 */
@EnabledIfSystemProperty(named = "seed", matches = "\\d+")
class ReplayTest {
  @TempDir private static Path folder;

  @Test
  void theSeed_breaksNoInvariant() throws IOException {
    List<String> options = new ArrayList<>(SimulationProcess.C1);
    options.add("-Dwith=" + System.getProperty("with", ""));
    String shrink = System.getProperty("shrink");
    options.add(shrink == null ? "-Dlog=true" : "-Dshrink=" + shrink);

    Output output = new SimulationProcess(folder).run(Long.getLong("seed"), 1, options, List.of());

    output.lines().forEach(System.out::println);
    assertThat(output.invariants()).isEmpty();
  }
}
