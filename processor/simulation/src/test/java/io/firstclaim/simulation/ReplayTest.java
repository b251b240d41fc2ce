package io.firstclaim.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.simulation.SimulationProcess.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** {@code -Dseed=N}: that one again, with all that happens. */
@EnabledIfSystemProperty(named = "seed", matches = "\\d+")
class ReplayTest {
  @TempDir private static Path folder;

  @Test
  void theSeed_breaksNoInvariant() throws IOException {
    Output output =
        new SimulationProcess(folder)
            .run(Long.getLong("seed"), 1, List.of("-Dlog=true"), List.of());

    output.lines().forEach(System.out::println);
    assertThat(output.invariants()).isEmpty();
  }
}
