package io.firstclaim.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.simulation.SimulationProcess.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code -Dhours=N}: one seed after the other for so long, from {@code -Dfrom=SEED} on. Each line
 * of progress has the totals.
 */
@EnabledIfSystemProperty(named = "hours", matches = "[0-9.]+")
class ProofTest {
  /** In one process: it takes a minute or two. */
  private static final int AT_ONCE = 100;

  @TempDir private static Path folder;

  @Test
  @Timeout(value = 365, unit = TimeUnit.DAYS)
  void noSeed_breaksAnInvariant() throws IOException {
    SimulationProcess simulation = new SimulationProcess(folder);
    Duration length =
        Duration.ofSeconds((long) (Double.parseDouble(System.getProperty("hours")) * 3600));
    Instant end = Instant.now().plus(length);
    long from = Long.getLong("from", 1_000_000);
    long faults = 0;
    long simulated = 0;
    for (long seed = from; Instant.now().isBefore(end); seed += AT_ONCE) {
      Output output =
          simulation.run(seed, AT_ONCE, List.of("-Duntil=red", "-Dshrink=200"), List.of());
      faults += output.faults();
      simulated += output.simulatedSeconds();
      System.out.printf(
          "%s: seeds %d to %d, %d faults, %.1f simulated hours, %s%n",
          Instant.now(),
          from,
          seed + AT_ONCE - 1,
          faults,
          simulated / 3600.0,
          output.invariants().isEmpty() ? "nothing broken" : "BROKEN");
      assertThat(output.invariants()).as(() -> String.join("\n", output.lines())).isEmpty();
    }
  }
}
