package io.firstclaim.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.model.Tlc;
import io.firstclaim.lock.model.TlcResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the simulated store takes is a behaviour of the protocol's model; with a bug in the product
 * it is none, and the model names the first write that is illegal.
 */
class TracesTest {
  private static final boolean SOAK = Boolean.getBoolean("soak");
  private static final Tlc TLC = new Tlc(Path.of("../../docs/tla"));
  private static final long SEED = 1;

  /** What the model says of the first illegal write of each. */
  private static final Map<String, String> ILLEGAL =
      Map.of(
          "the token does not rise", "2: the token does not rise by one",
          "the nonce of a next write is the same", "2: freed under another token|4: |5: |9: ",
          "a takeover does not wait for the lease's end", "8: taken over before the lease",
          "a record is claimed before its retry is due", "8: claimed before it is due",
          "an end is claimed", "3: an end is claimed");

  @TempDir private static Path folder;
  private static SimulationProcess simulation;

  @BeforeAll
  static void prepare() throws IOException {
    simulation = new SimulationProcess(folder);
  }

  static Stream<Mutant> mutants() {
    return Stream.concat(Mutants.few().stream(), Mutants.others().stream())
        .filter(mutant -> ILLEGAL.containsKey(mutant.name()))
        .limit(SOAK ? ILLEGAL.size() : 1);
  }

  @Test
  void theStoresWrites_areABehaviourOfTheModel() throws IOException {
    for (long seed = SEED; seed < SEED + (SOAK ? 10 : 1); seed++) {
      TlcResult result = judged(seed, List.of());

      assertThat(result.violated()).as(result.output()).isNull();
      assertThat(result.isComplete()).isTrue();
      assertThat(result.states()).as("one after each write").isGreaterThan(100);
    }
  }

  @ParameterizedTest
  @MethodSource("mutants")
  void aBugsWrites_areNone(Mutant mutant) throws IOException {
    TlcResult result = judged(SEED, List.of(mutant.compiledIn(folder)));

    assertThat(result.violated()).isEqualTo("Accepted");
    assertThat(result.output()).containsPattern(ILLEGAL.getOrDefault(mutant.name(), ""));
  }

  private static TlcResult judged(long seed, List<Path> bug) throws IOException {
    Path scratch = Files.createTempDirectory(folder, "trace");
    Path trace = scratch.resolve("TraceData.tla");
    List<String> options = new ArrayList<>(SimulationProcess.C1);
    options.add("-Dtrace=" + trace);
    options.add("-Dcast=alone"); // the model has one record, and no operators
    var _ = simulation.run(seed, 1, options, bug);
    return TLC.checkTrace(Files.readString(trace), scratch);
  }
}
