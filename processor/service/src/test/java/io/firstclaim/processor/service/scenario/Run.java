package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A run of the package that ended by itself. */
record Run(int exitCode, String output) {
  /** Runs the package to its end. */
  static Run of(Path directory, Map<String, String> env, String... args) throws IOException {
    return with(AotCache.ofCommands(), directory, env, args);
  }

  /** The same, with these arguments for its JVM in place of those of the {@link AotCache}. */
  static Run with(List<String> jvmArgs, Path directory, Map<String, String> env, String... args)
      throws IOException {
    JvmCommand command =
        JvmCommand.ofJar("firstclaim", Zone.JAR)
            .withJvmArgs(Zone.JVM_ARGS)
            .withJvmArgs(jvmArgs)
            .withArgs(List.of(args))
            .withEnv(env);
    Path log = directory.resolve("run.log");
    Files.deleteIfExists(log); // of an earlier run
    try (ChildJvm process = ChildJvm.start(command, log)) {
      assertThat(process.waitFor(Scenario.PATIENCE)).as("it ends").isTrue();
      return new Run(process.exitCode(), Files.readString(log));
    }
  }

  /** Runs it to its end, and again as long as the store does not answer: a machine may be slow. */
  static Run answered(Path directory, Map<String, String> env, String... args) {
    return answered(new ArrayList<>(), directory, env, args);
  }

  private static Run answered(
      List<Run> runs, Path directory, Map<String, String> env, String... args) {
    return Scenario.await(String.join(" ", args))
        .until(
            () -> {
              runs.add(of(directory, env, args));
              return runs.getLast();
            },
            run -> !run.output.contains("did not answer"));
  }

  /**
   * The same, for a {@code release} or {@code redrive} that is to free a claim. A run that was not
   * answered may have freed it: then the next one has nothing to change.
   */
  static Run freeing(Path directory, Map<String, String> env, String... args) {
    List<Run> runs = new ArrayList<>();
    Run last = answered(runs, directory, env, args);
    if (runs.size() > 1 && last.exitCode == 1) {
      assertThat(last.output).contains("state     FREE", "Nothing was changed");
    } else {
      assertThat(last.exitCode).as(last.output).isZero();
    }
    return last;
  }

  /** What it said to the user, and not to the log. */
  List<String> lines() {
    return output.lines().filter(line -> line.startsWith("firstclaim")).toList();
  }
}
