package io.firstclaim.lock.testkit.mutex;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.testkit.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The part of {@link MutexContract} that holds when many want it at once; runs in this machine's
 * time.
 */
public abstract class MutexCrowdContract extends MutexFixture {
  private static final int CONTENDERS = Soak.times(40, 100);
  private static final int MACHINES = 4;
  private static final int QUESTIONS = 3;

  /** Time for the slowest machine; nothing depends on it. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final AtomicBoolean occupied = new AtomicBoolean();
  private final List<Long> tokens = new ArrayList<>(); // guarded by nothing but the mutex

  @Test
  @Timeout(900)
  void manyContenders_eachGetItOnce_noTwoAtATime() throws Exception {
    List<Mutex> machines = new ArrayList<>();
    for (int i = 0; i < MACHINES; i++) {
      machines.add(mutex("machine-" + i, TimeSource.system()));
    }
    long begin = System.nanoTime();
    List<Callable<Long>> contenders = new ArrayList<>();
    for (int i = 0; i < CONTENDERS; i++) {
      Mutex mutex = machines.get(i % MACHINES);
      contenders.add(() -> workUnder(mutex));
    }

    long worked = 0;
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<Long> contender : threads.invokeAll(contenders)) {
        worked += contender.get();
      }
    }

    assertThat(System.nanoTime() - begin).as("no less than the sum").isGreaterThan(worked);
    assertThat(tokens).hasSize(CONTENDERS).doesNotHaveDuplicates().isSorted();
  }

  /** Asks the store three times; how long that took, in nanoseconds. */
  private long workUnder(Mutex mutex) throws InterruptedException {
    try (HeldMutex held = mutex.acquire(PATIENCE).orElseThrow()) {
      long begin = System.nanoTime();
      assertThat(occupied.compareAndSet(false, true)).as("nobody else is in").isTrue();
      tokens.add(held.token());
      for (int i = 0; i < QUESTIONS; i++) {
        assertThat(faulty.find(ID.asMutex())).isPresent();
      }
      held.ensureHeld();
      occupied.set(false);
      return System.nanoTime() - begin;
    }
  }
}
