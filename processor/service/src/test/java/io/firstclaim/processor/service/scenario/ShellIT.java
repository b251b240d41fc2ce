package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.stack.server.FreePort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands {@code lock} and {@code once} of the package, as shells run them. */
@Order(1)
@OneBackend(Backend.DYNAMODB)
class ShellIT {
  private static final String PLACE = "shell";
  private static final Set<Backend> CREATED = EnumSet.noneOf(Backend.class);

  @TempDir Path folder;

  private final String name = "job-" + UUID.randomUUID();
  private final Backend backend;

  ShellIT(Backend backend) {
    this.backend = backend;
  }

  private Map<String, String> settings() {
    Map<String, String> env = new HashMap<>(backend.settings(PLACE));
    env.put("FIRSTCLAIM_CLAIM_LEASE", "60s"); // or a busy machine outlasts it
    env.putAll(Backend.ACCESS);
    return env;
  }

  /** The same, of who is to lose its lease soon. */
  private static Map<String, String> ofAShortLease(Map<String, String> settings) {
    // The shortest with which the store has all of its 5 s to answer a cold process.
    settings.put("FIRSTCLAIM_CLAIM_LEASE", "15s");
    return settings;
  }

  /** All tests share what a store keeps its claims in: each has names of its own. */
  @BeforeEach
  void create() throws IOException {
    synchronized (CREATED) {
      if (CREATED.contains(backend)) {
        return;
      }
      probe();
      CREATED.add(backend);
    }
  }

  private void probe() throws IOException {
    Map<String, String> env = settings();
    env.put("FIRSTCLAIM_CLAIM_CREATE", "true");
    assertThat(Run.of(folder, env, "probe").exitCode()).isZero();
  }

  private Run run(String... args) throws IOException {
    return Run.of(Files.createTempDirectory(folder, "run"), settings(), args);
  }

  /** Comes back as long as it is told to: the store has a few seconds to note that it begins. */
  private Run runUntilHad(String... args) {
    return Scenario.await(String.join(" ", args))
        .until(() -> run(args), ended -> ended.exitCode() != 75);
  }

  private Run withoutLocale(String... args) throws IOException {
    Map<String, String> settings = new HashMap<>(settings());
    settings.put("LC_ALL", "C");
    return Run.of(Files.createTempDirectory(folder, "run"), settings, args);
  }

  private ChildJvm start(String log, String... args) {
    return start(log, settings(), args);
  }

  private ChildJvm start(String log, Map<String, String> settings, String... args) {
    return ChildJvm.start(
        JvmCommand.ofJar(log, Zone.JAR)
            .withJvmArgs(Zone.JVM_ARGS)
            .withJvmArgs(AotCache.ofCommands())
            .withArgs(List.of(args))
            .withEnv(settings),
        folder.resolve(log + ".log"));
  }

  private Map<String, String> through(FaultProxy proxy) {
    Map<String, String> settings = settings();
    settings.put(backend.endpointVariable(), proxy.endpoint().toString());
    return settings;
  }

  /** A command that says that it runs, until this file is gone. */
  private List<String> working(String runs) {
    return List.of(
        "sh", "-c", "echo $$ > %s; while [ -e %s ]; do sleep 0.1; done".formatted(runs, runs));
  }

  private static String[] args(List<String> command, String... before) {
    List<String> all = new ArrayList<>(List.of(before));
    all.add("--");
    all.addAll(command);
    return all.toArray(String[]::new);
  }

  /** What a call begins with that waits until it has the lock. */
  private String[] locking(String... options) {
    List<String> all = new ArrayList<>(List.of("lock", name, "--wait", "5m"));
    all.addAll(List.of(options));
    return all.toArray(String[]::new);
  }

  private void assertGivenBack() {
    try (Claims claims = backend.claims(PLACE)) {
      assertThat(claims.all())
          .filteredOn(claim -> claim.id().equals(name))
          .extracting(Claims.Claim::state)
          .containsExactly("FREE");
    }
  }

  private static long awaitPid(Path file) {
    Scenario.await("the command runs").until(() -> Files.exists(file) && Files.size(file) > 1);
    try {
      return Long.parseLong(Files.readString(file).strip());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }

  @Test
  void lock_runsOneCommandAtATime_withItsTokenAndExitCode() throws IOException {
    Path runs = folder.resolve("runs");
    try (ChildJvm first = start("first", args(working(runs.toString()), locking()))) {
      long _ = awaitPid(runs);

      Run refused = Run.answered(folder, settings(), args(List.of("true"), "lock", name));
      assertThat(refused.exitCode()).as(refused.output()).isEqualTo(75);
      assertThat(refused.output()).contains("firstclaim: lock " + name, "holds it");

      Files.delete(runs);
      assertThat(first.waitFor(Scenario.PATIENCE)).isTrue();
      assertThat(first.exitCode()).as(first.logTail()).isZero();
    }
    String said = "echo $FIRSTCLAIM_LOCK has $FIRSTCLAIM_TOKEN; exit 7";
    Run next = run(args(List.of("sh", "-c", said), locking()));
    assertThat(next.exitCode()).as(next.output()).isEqualTo(7);
    assertThat(next.output()).containsPattern(name + " has \\d+");
    Run missing = run(args(List.of("no-such-program"), locking()));
    assertThat(missing.exitCode()).as(missing.output()).isEqualTo(127);
    assertGivenBack();
  }

  @Test
  void killedShell_leavesItsCommand_andTheLockIsTakenOverWithAHigherToken() throws IOException {
    Path runs = folder.resolve("runs");
    String report = "echo $FIRSTCLAIM_TOKEN > token; ";
    List<String> command =
        List.of(
            "sh",
            "-c",
            report.replace("token;", folder.resolve("token") + ";")
                + working(runs.toString()).getLast());
    try (ChildJvm first = start("first", ofAShortLease(settings()), args(command, locking()))) {
      long orphan = awaitPid(runs);
      first.kill();

      Run next = run(args(List.of("sh", "-c", "echo $FIRSTCLAIM_TOKEN"), locking()));

      assertThat(next.exitCode()).as(next.output()).isZero();
      long before = Long.parseLong(Files.readString(folder.resolve("token")).strip());
      assertThat(number(next)).isGreaterThan(before);
      assertThat(isAlive(orphan)).as("nobody is left to end it").isTrue();
      Files.delete(runs);
      Scenario.await("it ends").until(() -> !isAlive(orphan));
    }
  }

  /** What a command has said: the one line that is a number, whatever the log has beside it. */
  private static long number(Run ended) {
    List<String> numbers = ended.output().lines().filter(line -> line.matches("\\d+")).toList();
    assertThat(numbers).as("%s", ended.output()).hasSize(1);
    return Long.parseLong(numbers.getFirst());
  }

  @Test
  void killedWaiter_leavesTheLockToItsHolder_andToWhoComesAfter() throws IOException {
    Path runs = folder.resolve("runs");
    Path other = folder.resolve("other");
    try (ChildJvm holder = start("holder", args(working(runs.toString()), locking()))) {
      long command = awaitPid(runs);
      String waits = "echo waited > " + other;
      try (ChildJvm waiter =
          start("waiter", args(List.of("sh", "-c", waits), "lock", name, "--wait", "1h"))) {
        // Whoever comes now finds it held, by the holder still: the waiter has asked meanwhile.
        Run refused = run(args(List.of("true"), "lock", name, "--wait", "3s"));
        assertThat(refused.exitCode()).as(refused.output()).isEqualTo(75);
        waiter.kill();
      }
      assertThat(isAlive(command)).isTrue();
      Files.delete(runs);
      assertThat(holder.waitFor(Scenario.PATIENCE)).isTrue();
      assertThat(holder.exitCode()).as(holder.logTail()).isZero();
    }
    assertGivenBack();
    assertThat(other).doesNotExist();
  }

  @Test
  void killedCommand_givesItsLockBack_withItsExitCode() throws IOException {
    Path runs = folder.resolve("runs");
    try (ChildJvm shell = start("shell", args(working(runs.toString()), locking()))) {
      long command = awaitPid(runs);
      ProcessHandle.of(command).orElseThrow().destroyForcibly();

      assertThat(shell.waitFor(Scenario.PATIENCE)).isTrue();
      assertThat(shell.exitCode()).isEqualTo(137);
    }
    assertGivenBack();
  }

  /** A command that says where it runs, goes on, and ends so when it is told to. */
  private static List<String> trapping(String end, Path runs) {
    return List.of(
        "sh",
        "-c",
        "trap '%s' TERM; echo $$ > %s; while true; do sleep 0.1; done".formatted(end, runs));
  }

  @Test
  void signal_endsTheCommand_andGivesTheLockBack() throws IOException {
    Path runs = folder.resolve("runs");
    List<String> command = trapping("echo told; exit 9", runs);
    try (ChildJvm shell = start("shell", args(command, locking()))) {
      long _ = awaitPid(runs);
      shell.terminate();

      assertThat(shell.waitFor(Scenario.PATIENCE)).isTrue();
      assertThat(shell.exitCode()).isEqualTo(9);
      assertThat(shell.logTail()).contains("told");
    }
    assertGivenBack();
  }

  @Test
  void signal_endsAllThatTheCommandStarted_beforeAnotherHasTheLock() throws IOException {
    Path runs = folder.resolve("runs");
    Path told = folder.resolve("told");
    String stubborn =
        "trap \"touch %s\" TERM; echo $$ > %s; while true; do sleep 0.1; done"
            .formatted(told, runs);
    // The signal ends it once the other has heard of it: the grace begins only then.
    String leading =
        "trap 'while [ -e %s ] && [ ! -e %s ]; do sleep 0.1; done; trap - TERM; kill $$' TERM; "
            .formatted(runs, told);
    List<String> command = List.of("sh", "-c", leading + "sh -c '" + stubborn + "' & wait");
    try (ChildJvm shell = start("shell", args(command, locking()))) {
      long grandchild = awaitPid(runs);
      List<String> alone = List.of("sh", "-c", "! kill -0 " + grandchild);
      try (ChildJvm next = start("next", args(alone, locking()))) {
        shell.terminate();

        assertThat(shell.waitFor(Scenario.PATIENCE)).isTrue();
        assertThat(shell.exitCode()).as(shell.logTail()).isEqualTo(143);
        assertThat(isAlive(grandchild)).as("what the command started runs").isFalse();
        assertThat(told).as("first kindly").exists();
        assertThat(next.waitFor(Scenario.PATIENCE)).isTrue();
        assertThat(next.exitCode()).as(next.logTail()).isZero();
      } finally {
        ProcessHandle.of(grandchild).ifPresent(ProcessHandle::destroyForcibly);
      }
    }
  }

  @Test
  void lostLock_endsTheCommandAndAllThatItStarted() throws IOException {
    Path runs = folder.resolve("runs");
    List<String> command =
        List.of("sh", "-c", "sh -c 'echo $$ > %s; sleep 1000; true'; true".formatted(runs));
    try (ChildJvm shell = start("shell", ofAShortLease(settings()), args(command, locking()))) {
      long grandchild = awaitPid(runs);

      Run _ = Run.freeing(folder, settings(), "release", "--mutex", name, "--reason", "it hangs");

      assertThat(shell.waitFor(Scenario.PATIENCE)).isTrue();
      assertThat(shell.exitCode()).as(shell.logTail()).isEqualTo(76);
      Scenario.await("all are ended").until(() -> !isAlive(grandchild));
    }
    Run bounded = run(args(List.of("sleep", "1000"), locking("--at-most", "500ms")));
    assertThat(bounded.exitCode()).as(bounded.output()).isEqualTo(76);
  }

  @Test
  void once_runsOnceForAll_andPrintsWhatWasStored() throws IOException {
    Path log = folder.resolve("ran");
    List<String> failing = List.of("sh", "-c", "echo x >> %s; exit 3".formatted(log));
    // Printed as it was where no locale is set, as in cron.
    List<String> command =
        List.of("sh", "-c", "echo y >> %s; printf 'gr\\303\\274n\\n'".formatted(log));

    assertThat(runUntilHad(args(failing, "once", name)).exitCode()).isEqualTo(3);
    Run first = runUntilHad(args(command, "once", name, "--result-from-stdout"));
    Run later = withoutLocale(args(command, "once", name, "--result-from-stdout"));

    assertThat(first.exitCode()).as(first.output()).isZero();
    assertThat(later.exitCode()).as(later.output()).isZero();
    assertThat(first.output()).isEqualTo("gr\u00fcn\n");
    assertThat(later.output()).isEqualTo("gr\u00fcn\n");
    assertThat(Files.readString(log)).isEqualTo("x\ny\n");
  }

  @Test
  void signal_leavesOnceTheResultOfACommandThatEndsWell() throws IOException {
    Path runs = folder.resolve("runs");
    List<String> command = trapping("echo told; exit 0", runs);
    String[] call = args(command, "once", name, "--result-from-stdout");
    try (ChildJvm shell = start("shell", call)) {
      long _ = awaitPid(runs);
      shell.terminate();

      assertThat(shell.waitFor(Scenario.PATIENCE)).isTrue();
      assertThat(shell.exitCode()).as(shell.logTail()).isZero();
      assertThat(shell.logTail()).contains("told").doesNotContain("stored");
    }
    assertThat(runUntilHad(call).output()).isEqualTo("told\n");
  }

  @Test
  void result_isPrintedOnlyToWhoAsksForIt() throws IOException {
    List<String> command = List.of("echo", "result");
    assertThat(runUntilHad(args(command, "once", name, "--result-from-stdout")).exitCode())
        .isZero();

    Run later = runUntilHad(args(command, "once", name));

    assertThat(later.exitCode()).as(later.output()).isZero();
    assertThat(later.output()).isEmpty();
  }

  @Test
  void outputThatIsNoText_isNotStored_andTheCommandIsDone() throws IOException {
    List<String> command = List.of("sh", "-c", "printf '\\377'");
    String[] call = args(command, "once", name, "--result-from-stdout");

    try (ChildJvm first = start("first", call)) {
      assertThat(first.waitFor(Scenario.PATIENCE)).isTrue();
      assertThat(first.exitCode()).as(first.logTail()).isZero();
      assertThat(first.logTail()).contains("not UTF-8");
    }
    Run later = runUntilHad(call);

    assertThat(later.exitCode()).as(later.output()).isZero();
    assertThat(later.output()).isEmpty();
  }

  @Test
  void exitCodeOfTheCommand_isNotTakenForALostLease() throws IOException {
    Run ended = runUntilHad(args(List.of("sh", "-c", "exit 76"), "once", name));

    assertThat(ended.exitCode()).isEqualTo(76);
    assertThat(ended.output()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void onceWhoseEndTheStoreRefuses_isComeBackLater(int exitCode) throws IOException {
    try (FaultProxy proxy = FaultProxy.start(backend.endpoint())) {
      proxy.add(Rule.always(backend.step("DONE").or(backend.step("FREE")), backend.refusal()));
      List<String> command = List.of("sh", "-c", "exit " + exitCode);

      Run ended = Run.of(folder, through(proxy), args(command, "once", name));

      assertThat(ended.exitCode()).as(ended.output()).isEqualTo(75);
      assertThat(ended.output()).contains("its end is not recorded", "AccessDenied");
    }
  }

  @Test
  void signalBeforeTheEndOfOnceIsRecorded_isComeBackLater() throws Exception {
    try (FaultProxy proxy = FaultProxy.start(backend.endpoint())) {
      Rule unheard = proxy.add(Rule.always(backend.step("DONE"), new Fault.Refuse()));
      try (ChildJvm shell =
          start("shell", ofAShortLease(through(proxy)), args(List.of("true"), "once", name))) {
        assertThat(unheard.awaitHits(2, Scenario.PATIENCE)).isTrue();
        shell.terminate();

        assertThat(shell.waitFor(Scenario.PATIENCE)).isTrue();
        assertThat(shell.exitCode()).as(shell.logTail()).isEqualTo(75);
      }
    }
  }

  @Test
  void onceWhoseStoreIsAwayAtItsEnd_givesUpOnceItsLeaseIsOver() throws IOException {
    Path runs = folder.resolve("runs");
    try (FaultProxy proxy = FaultProxy.start(backend.endpoint());
        ChildJvm shell =
            start(
                "shell",
                ofAShortLease(through(proxy)),
                args(working(runs.toString()), "once", name))) {
      long _ = awaitPid(runs);
      proxy.cut();
      Files.delete(runs);

      assertThat(shell.waitFor(Scenario.PATIENCE)).isTrue();
      assertThat(shell.exitCode()).as(shell.logTail()).isEqualTo(75);
      assertThat(shell.logTail()).contains("not known whether its end is recorded");
    }
  }

  @Test
  void onceThatAnotherIsAt_isToldSo_andDoneOnceThatIs() throws IOException {
    Path runs = folder.resolve("runs");
    try (ChildJvm shell = start("shell", args(working(runs.toString()), "once", name))) {
      long _ = awaitPid(runs);
      Run busy = run(args(List.of("echo", "twice"), "once", name));
      assertThat(busy.exitCode()).isEqualTo(75);
      assertThat(busy.output()).contains("is at it").doesNotContain("twice");
      Files.delete(runs);
      assertThat(shell.waitFor(Scenario.PATIENCE)).isTrue();
      assertThat(shell.exitCode()).isZero();
    }
    assertThat(runUntilHad(args(List.of("echo", "twice"), "once", name)).output()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"lock", "once"})
  void storeThatDoesNotAnswer_isComeBackLater_andNothingRuns(String command) throws IOException {
    Path ran = folder.resolve("ran");
    Map<String, String> env = settings();
    env.put(backend.endpointVariable(), "http://127.0.0.1:%d".formatted(FreePort.next()));

    Run ended = Run.of(folder, env, args(List.of("touch", ran.toString()), command, name));

    assertThat(ended.exitCode()).as(ended.output()).isEqualTo(75);
    assertThat(ended.output()).contains("firstclaim:").doesNotContain("\tat ");
    assertThat(ran).doesNotExist();
  }
}
