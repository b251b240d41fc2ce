package io.firstclaim.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.simulation.SimulationProcess.Output;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A simulation that finds no planted bug proves nothing. */
class MutantsTest {
  /** In about 40 faults each: 2,000 in all, or the bug was not found. */
  private static final int MOST_SEEDS = 55;

  @TempDir private static Path folder;
  private static SimulationProcess simulation;

  @BeforeAll
  static void prepare() throws IOException {
    simulation = new SimulationProcess(folder);
  }

  static Stream<Mutant> mutants() {
    return Boolean.getBoolean("soak")
        ? Stream.concat(Mutants.few().stream(), Mutants.others().stream())
        : Mutants.few().stream();
  }

  @ParameterizedTest
  @MethodSource("mutants")
  void aPlantedBug_isFound(Mutant mutant) throws IOException {
    Path classes = compiled(mutant);

    Output output = simulation.run(1, MOST_SEEDS, List.of("-Duntil=red"), List.of(classes));

    System.out.printf(
        "%s: %s, after %d faults%n", mutant, Set.copyOf(output.invariants()), output.faults());
    assertThat(output.invariants())
        .as(() -> String.join("\n", output.lines()))
        .containsAnyElementsOf(mutant.invariants());
  }

  private static Path compiled(Mutant mutant) throws IOException {
    Path project = Path.of("..", "..").toAbsolutePath();
    String source = Files.readString(project.resolve(mutant.file()), UTF_8);
    assertThat(source).as(mutant.file()).containsOnlyOnce(mutant.text());
    Path classes = Files.createTempDirectory(folder, "mutant");
    Path name = Path.of(mutant.file()).getFileName();
    Path mutated = classes.resolve(name);
    Files.writeString(mutated, source.replace(mutant.text(), mutant.replacement()), UTF_8);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    int result =
        compiler.run(
            null,
            null,
            null,
            "-nowarn",
            "-proc:none",
            "-parameters",
            "-cp",
            System.getProperty("java.class.path"),
            "-d",
            classes.toString(),
            mutated.toString());
    assertThat(result).as("compiling " + mutated).isZero();
    return classes;
  }
}
