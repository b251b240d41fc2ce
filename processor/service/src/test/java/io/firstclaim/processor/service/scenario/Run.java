package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    try (ChildJvm process = ChildJvm.start(command, log)) {
      assertThat(process.waitFor(Scenario.PATIENCE)).as("it ends").isTrue();
      return new Run(process.exitCode(), Files.readString(log));
    }
  }

  /** What it said to the user, and not to the log. */
  List<String> lines() {
    return output.lines().filter(line -> line.startsWith("firstclaim")).toList();
  }
}
