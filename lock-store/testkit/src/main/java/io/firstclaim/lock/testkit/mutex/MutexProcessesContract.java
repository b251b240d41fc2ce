package io.firstclaim.lock.testkit.mutex;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.lock.testkit.mutex.Ledger.Kind;
import io.firstclaim.lock.testkit.mutex.Ledger.Line;
import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contract of a mutex that several processes want, one of which is killed. */
@Timeout(1500)
@Execution(ExecutionMode.CONCURRENT) // the work is done in other processes
public abstract class MutexProcessesContract {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private final String namespace = "processes-" + Nonce.random();
  private final List<ChildJvm> started = new ArrayList<>();

  /** The lease of a holder that is killed: the others wait for its end. */
  private static final Duration LEASE = Duration.ofSeconds(6);

  /**
   * The lease of holders that give it back: longer than a machine under full load delays a renewal.
   */
  private static final Duration LONG_LEASE = Duration.ofMinutes(1);

  /** What a machine that does much else may add to a time that is demanded. */
  private static final Duration NOISE = Duration.ofMinutes(5);

  private static final int PROCESSES = 4;

  /** The number of contenders in each process. */
  private static final int CONTENDERS = Soak.times(8, 25);

  @TempDir Path directory;

  /** The program that runs a {@link Contender} on the backend, to be given its arguments. */
  protected abstract JvmCommand program(String name, String classPath);

  private ChildJvm start(String process, int contenders, Duration lease) {
    var contender =
        new Contender(namespace, process, contenders, lease, directory.resolve("ledger"));
    ChildJvm child =
        ChildJvm.start(
            program(process, System.getProperty("java.class.path"))
                .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
                .withArgs(contender.args()),
            directory.resolve(process + ".log"));
    started.add(child);
    return child;
  }

  private Ledger ledger() {
    return new Ledger(directory.resolve("ledger"));
  }

  private static void await(Callable<Boolean> holds) {
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .atMost(PATIENCE)
        .until(holds);
  }

  private static void assertEndsWell(ChildJvm child) {
    assertThat(child.waitFor(PATIENCE)).isTrue();
    assertThat(child.exitCode()).as(child::logTail).isZero();
  }

  @AfterEach
  void end() {
    started.forEach(ChildJvm::close);
  }

  @Test
  void manyContendersInFourProcesses_eachGetItOnce_noTwoAtATime() throws Exception {
    for (int i = 0; i < PROCESSES; i++) {
      start("process-" + i, CONTENDERS, LONG_LEASE);
    }
    started.forEach(MutexProcessesContract::assertEndsWell);

    List<Line> holds = ledger().lines(Kind.HOLDS);
    assertThat(holds).hasSize(PROCESSES * CONTENDERS);
    assertThat(holds).extracting(Line::who).doesNotHaveDuplicates();
    assertThat(holds).extracting(Line::token).doesNotHaveDuplicates().isSorted();
    List<Line> turns = ledger().lines().stream().filter(line -> line.kind() != Kind.WAITS).toList();
    assertThat(turns).hasSize(2 * PROCESSES * CONTENDERS);
    for (int i = 0; i < turns.size(); i += 2) {
      assertThat(turns.get(i).kind()).isEqualTo(Kind.HOLDS);
      assertThat(turns.get(i + 1).kind()).as("before the next one holds it").isEqualTo(Kind.LEAVES);
      assertThat(turns.get(i + 1).who()).isEqualTo(turns.get(i).who());
    }
  }

  @Test
  void holderKilledWithoutWarning_delaysTheOthersByOneLease() throws Exception {
    ChildJvm victim = start("victim", 0, LEASE);
    await(() -> !ledger().lines(Kind.HOLDS).isEmpty());
    ChildJvm others = start("other", 3, LONG_LEASE);
    await(() -> ledger().lines(Kind.WAITS).size() == 4);

    victim.kill();
    Instant killed = Instant.now();

    assertEndsWell(others);
    List<Line> holds = ledger().lines(Kind.HOLDS);
    long first = holds.getFirst().token();
    assertThat(holds)
        .extracting(Line::token)
        .containsExactly(first, first + 1, first + 2, first + 3);
    assertThat(holds.get(1).at())
        .as("its first lease at least is waited for, whether or not it could renew in time")
        .isAfterOrEqualTo(ledger().lines(Kind.WAITS).getFirst().at().plus(LEASE));
    assertThat(holds.get(1).at())
        .as("one lease at most, and the mutex is looked at within two seconds")
        .isBeforeOrEqualTo(killed.plus(LEASE).plus(Contender.MAX_SKEW).plus(NOISE));
  }
}
