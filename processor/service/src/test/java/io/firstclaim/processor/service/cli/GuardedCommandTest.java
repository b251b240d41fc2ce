package io.firstclaim.processor.service.cli;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GuardedCommandTest {
  /** Nothing here takes so long, whatever the machine does. */
  private static final Duration NO_HURRY = Duration.ofMinutes(10);

  /** Of prctl(2). */
  private static final int PR_SET_CHILD_SUBREAPER = 36;

  @TempDir Path folder;

  /** A command that needs two minutes to end in good order, and would get them; it runs. */
  private GuardedCommand tidyingUp() throws Exception {
    Path runs = folder.resolve("runs");
    String script =
        "trap 'for i in $(seq 1200); do sleep 0.1; done; exit 0' TERM; "
            + "echo > %s; while true; do sleep 0.1; done".formatted(runs);
    GuardedCommand command =
        GuardedCommand.start(List.of("sh", "-c", script), Map.of(), false, NO_HURRY);
    await().atMost(Duration.ofMinutes(10)).until(() -> Files.exists(runs));
    return command;
  }

  @Test
  void commandWhoseLeaseIsSoonAnothers_isKilledBeforeThat() throws Exception {
    GuardedCommand command = tidyingUp();

    command.stop(Duration.ofMillis(10));

    assertThat(command.await()).isEqualTo(128 + 9);
    assertThat(command.isStopped()).isTrue();
    command.close();
  }

  @Test
  void commandWhoseLeaseAnotherMayHaveByNow_isKilledAtOnce() throws Exception {
    GuardedCommand command = tidyingUp();

    command.stop(Duration.ofSeconds(-1));

    assertThat(command.await()).isEqualTo(128 + 9);
    command.close();
  }

  /** A command that waits for another that it has started, which it has in this file. */
  private static GuardedCommand waitingFor(Path runs, boolean reads) throws Exception {
    String working = "echo $$ > %s; while true; do sleep 0.1; done".formatted(runs);
    return GuardedCommand.start(
        List.of("sh", "-c", "sh -c '" + working + "'; true"), Map.of(), reads, NO_HURRY);
  }

  /** Ends a command by a signal, but not what it has started, which is returned. */
  private static ProcessHandle cutOff(GuardedCommand command, Path runs) throws Exception {
    ProcessHandle started = ProcessHandle.of(awaitPid(runs)).orElseThrow();
    await().atMost(NO_HURRY).until(() -> command.seen().contains(started));
    assertThat(started.parent().orElseThrow().destroy()).isTrue();
    return started;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void commandThatASignalEnds_isOverOnlyOnceWhatItStartedIsEndedToo(boolean reads)
      throws Exception {
    Path runs = folder.resolve("runs");
    GuardedCommand command = waitingFor(runs, reads);
    ProcessHandle started = cutOff(command, runs);
    try {
      assertThat(command.await()).isEqualTo(128 + 15);
      assertThat(started.isAlive()).isFalse();
    } finally {
      started.destroyForcibly();
      command.close();
    }
  }

  /** As the first process of a container is, which inherits all whose parents are dead. */
  @Test
  @SuppressWarnings("restricted")
  void whatNobodyReaps_isOverOnceItHasEnded() throws Throwable {
    MethodHandle inherit =
        Linker.nativeLinker()
            .downcallHandle(
                Linker.nativeLinker().defaultLookup().findOrThrow("prctl"),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
    assertThat((int) inherit.invokeExact(PR_SET_CHILD_SUBREAPER, 1L)).isZero();
    try {
      Path runs = folder.resolve("runs");
      GuardedCommand command = waitingFor(runs, false);
      ProcessHandle started = cutOff(command, runs);

      assertThat(command.await()).isEqualTo(128 + 15);
      assertThat(started.isAlive()).as("to who does not know that it has ended").isTrue();
      assertThat(started.onExit()).succeedsWithin(NO_HURRY);
      command.close();
    } finally {
      assertThat((int) inherit.invokeExact(PR_SET_CHILD_SUBREAPER, 0L)).isZero();
    }
  }

  /**
   * Starts a command that has started another; told to end, that one tidies up by a third, and the
   * command is dead once that runs.
   */
  private GuardedCommand leading(String led, String third) throws Exception {
    script(
        "command",
        "cd " + folder,
        "trap 'until [ -e third ]; do sleep 0.1; done; exit 3' TERM",
        "sh led.sh & wait");
    script("led", "trap '" + led + "' TERM", "echo $$ > led", "while true; do sleep 0.1; done");
    script("third", "echo $$ > third", third);
    List<String> words = List.of("sh", folder.resolve("command.sh").toString());
    GuardedCommand command = GuardedCommand.start(words, Map.of(), false, NO_HURRY);
    long _ = awaitPid(folder.resolve("led"));
    return command;
  }

  private void script(String name, String... lines) throws Exception {
    Files.write(folder.resolve(name + ".sh"), List.of(lines));
  }

  @Test
  void whatTheToldTidyUpBy_isNotToldToEndWhileTheyLive() throws Exception {
    GuardedCommand command = leading("sh third.sh && echo > tidied; exit", "sleep 1");
    Thread stopping = Thread.ofVirtual().start(() -> command.stop(NO_HURRY));

    assertThat(command.await()).isEqualTo(3);
    stopping.join();
    assertThat(folder.resolve("tidied")).exists();
    command.close();
  }

  @Test
  void whatTheToldLeaveBehind_isToldOnceTheyAreDead() throws Exception {
    GuardedCommand command =
        leading(
            "sh third.sh & until [ -e end ]; do sleep 0.1; done; exit",
            "while true; do sleep 0.1; done");
    Thread stopping = Thread.ofVirtual().start(() -> command.stop(NO_HURRY));
    ProcessHandle third = ProcessHandle.of(awaitPid(folder.resolve("third"))).orElseThrow();
    try {
      await().atMost(Duration.ofMinutes(10)).until(() -> command.seen().contains(third));
      assertThat(third.isAlive()).isTrue();
      Files.createFile(folder.resolve("end"));

      assertThat(command.await()).isEqualTo(3);
      stopping.join();
      assertThat(third.isAlive()).isFalse();
    } finally {
      third.destroyForcibly();
      command.close();
    }
  }

  private static long awaitPid(Path file) throws Exception {
    await().atMost(Duration.ofMinutes(10)).until(() -> Files.exists(file) && Files.size(file) > 1);
    return Long.parseLong(Files.readString(file).strip());
  }
}
