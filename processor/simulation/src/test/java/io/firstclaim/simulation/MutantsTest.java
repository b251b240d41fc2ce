package io.firstclaim.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.simulation.SimulationProcess.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A simulation that finds no planted bug proves nothing. {@code -Dmutant=PATTERN}: those alone in
 * whose names it is found; {@code -Dfaults=N}: so many may happen until a bug is found.
 */
class MutantsTest {
  /** Or the bug was not found. */
  private static final int MOST_FAULTS =
      Integer.getInteger("faults", Boolean.getBoolean("soak") ? 20_000 : 2000);

  /** More than have as many faults. */
  private static final int MOST_SEEDS = MOST_FAULTS / 20;

  @TempDir private static Path folder;
  private static SimulationProcess simulation;

  @BeforeAll
  static void prepare() throws IOException {
    simulation = new SimulationProcess(folder);
  }

  static Stream<Mutant> mutants() {
    Pattern chosen = Pattern.compile(System.getProperty("mutant", ""));
    return all().filter(mutant -> chosen.matcher(mutant.name()).find());
  }

  private static Stream<Mutant> all() {
    return Boolean.getBoolean("soak") || System.getProperty("mutant") != null
        ? Stream.concat(Mutants.few().stream(), Mutants.others().stream())
        : Mutants.few().stream();
  }

  @ParameterizedTest
  @MethodSource("mutants")
  void aPlantedBug_isFound(Mutant mutant) throws IOException {
    List<String> options = new ArrayList<>(SimulationProcess.C1);
    options.addAll(List.of("-Duntil=red", "-Dfaults=" + MOST_FAULTS));

    Output output = simulation.run(1, MOST_SEEDS, options, List.of(mutant.compiledIn(folder)));

    System.out.printf(
        "%s: %s, after %d faults%n", mutant, Set.copyOf(output.invariants()), output.faults());
    assertThat(output.invariants())
        .as(() -> String.join("\n", output.lines()))
        .containsAnyElementsOf(mutant.invariants());
  }

  /** Whoever changes the text that a bug replaces has to change the bug. */
  @Test
  void everyBug_canStillBePlanted() throws IOException {
    List<Mutant> all = Stream.concat(Mutants.few().stream(), Mutants.others().stream()).toList();
    for (Mutant mutant : all) {
      mutant.requireText();
    }

    assertThat(all).extracting(Mutant::name).doesNotHaveDuplicates().hasSizeGreaterThan(40);
  }
}
