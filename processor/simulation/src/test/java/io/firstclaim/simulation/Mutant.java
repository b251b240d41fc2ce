package io.firstclaim.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * A bug, planted by a replacement of the product's source text.
 *
 * @param name what is wrong
 * @param file the source, below the project's folder
 * @param text what stands there
 * @param replacement what the bug has in its place
 * @param invariants one of which must be found broken; 0: an engine ends by a defect
 */
record Mutant(String name, String file, String text, String replacement, Set<Integer> invariants) {
  private static final Path PROJECT = Path.of("..", "..").toAbsolutePath();

  @Override
  public String toString() {
    return name;
  }

  /** Fails if what it replaces does not stand there, once. Returns the whole source. */
  String requireText() throws IOException {
    String source = Files.readString(PROJECT.resolve(file), UTF_8);
    assertThat(source).as("%s, for \"%s\"", file, name).containsOnlyOnce(text);
    return source;
  }

  /**
   * Compiles the source with the bug. Returns where its classes are.
   *
   * @param folder for a folder of its own
   */
  Path compiledIn(Path folder) throws IOException {
    Path classes = Files.createTempDirectory(folder, "mutant");
    Path mutated = classes.resolve(Path.of(file).getFileName());
    Files.writeString(mutated, requireText().replace(text, replacement), UTF_8);
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
