package io.firstclaim.lock.testkit.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildJvmTest {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  @TempDir private Path directory;

  /** Prints its arguments and one variable, and sleeps, fails, or spins in many threads. */
  static final class Sleeper {
    private Sleeper() {}

    public static void main(String[] args) throws InterruptedException {
      System.out.println("up " + String.join(" ", args) + " " + System.getenv("FIRSTCLAIM_X"));
      if (args[0].equals("fail")) {
        System.exit(3);
      }
      if (args[0].equals("spin")) {
        for (int i = 0; i < 50; i++) {
          Thread.ofPlatform().daemon().start(Sleeper::spin);
        }
      }
      Thread.sleep(Duration.ofHours(1));
    }

    private static void spin() {
      while (true) {
        Thread.onSpinWait();
      }
    }
  }

  /** Starts a paused child, tells its process ID in a file, and sleeps. */
  static final class Parent {
    private Parent() {}

    public static void main(String[] args) throws Exception {
      Path directory = Path.of(args[0]);
      Path scratch = Files.createDirectory(directory.resolve("scratch"));
      ChildJvm child =
          ChildJvm.start(
              command(Sleeper.class, "sleep"), directory.resolve("child.log"), List.of(scratch));
      child.pause();
      Files.writeString(directory.resolve("pid.new"), Long.toString(child.pid()));
      Files.move(directory.resolve("pid.new"), directory.resolve("pid"));
      Thread.sleep(Duration.ofHours(1));
    }
  }

  @Test
  void child_hasItsArgumentsAndVariables_andDiesOnTerminate() throws IOException {
    JvmCommand command =
        command(Sleeper.class, "sleep").withEnv(Map.of("FIRSTCLAIM_X", "variable"));
    try (ChildJvm child = ChildJvm.start(command, log())) {
      child.awaitReady("up", () -> child.logTail().contains("up"), PATIENCE);
      assertThat(Files.readString(log())).contains("up sleep variable");

      child.terminate();
      assertThat(child.waitFor(PATIENCE)).isTrue();
      assertThat(child.exitCode()).isEqualTo(128 + 15);
    }
  }

  @Test
  void pausedChild_neitherEndsNorSurvivesKill() {
    try (ChildJvm child = ChildJvm.start(command(Sleeper.class, "sleep"), log())) {
      child.awaitReady("up", () -> child.logTail().contains("up"), PATIENCE);
      child.pause();
      child.terminate();
      assertThat(child.waitFor(Duration.ofMillis(300))).isFalse();
      child.kill();
      assertThat(child.isAlive()).isFalse();
    }
  }

  /** Where more threads want to run than may, not all have stopped when the signal is sent. */
  @Test
  void pausedChild_standsStill() {
    try (ChildJvm child = ChildJvm.start(command(Sleeper.class, "spin"), log())) {
      child.awaitReady("up", () -> child.logTail().contains("up"), PATIENCE);
      List<Duration> after = new ArrayList<>();
      for (int round = 0; round < 10; round++) {
        child.pause();
        Duration used = cpuTime(child);
        assertThat(child.waitFor(Duration.ofMillis(50))).isFalse();
        after.add(cpuTime(child).minus(used));
        child.resume();
      }
      assertThat(after).as("CPU time that it used while paused").containsOnly(Duration.ZERO);
    }
  }

  private static Duration cpuTime(ChildJvm child) {
    return ProcessHandle.of(child.pid()).orElseThrow().info().totalCpuDuration().orElseThrow();
  }

  @Test
  void childThatEnds_isReported_withTheEndOfItsLog() {
    try (ChildJvm child = ChildJvm.start(command(Sleeper.class, "fail"), log())) {
      assertThatThrownBy(() -> child.awaitReady("ready", () -> false, PATIENCE))
          .isInstanceOf(StackException.class)
          .hasMessageContaining("ended with exit code 3 before it was ready")
          .hasMessageContaining("up fail");
    }
  }

  @Test
  void pausedChild_diesWithItsParent_evenByKill9() throws Exception {
    Path pidFile = directory.resolve("pid");
    JvmCommand command = command(Parent.class, directory.toString());
    long pid;
    try (ChildJvm parent = ChildJvm.start(command, log())) {
      parent.awaitReady("parent of a child", () -> Files.exists(pidFile), PATIENCE);
      pid = Long.parseLong(Files.readString(pidFile));
      assertThat(ProcessHandle.of(pid)).isPresent();
      parent.kill();
    }
    Path scratch = directory.resolve("scratch");
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              assertThat(isRunning(pid)).isFalse();
              assertThat(scratch).doesNotExist();
            });
  }

  /** Where nobody reaps orphans, the dead child stays as a process without a command. */
  private static boolean isRunning(long pid) {
    return ProcessHandle.of(pid).flatMap(each -> each.info().command()).isPresent();
  }

  private Path log() {
    return directory.resolve("log");
  }

  private static JvmCommand command(Class<?> main, String argument) {
    return JvmCommand.ofMain("child", System.getProperty("java.class.path"), main.getName())
        .withArgs(List.of(argument));
  }
}
