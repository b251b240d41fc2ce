package io.firstclaim.lock.testkit.framework;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.RunListener;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Applications whose jobs are due each second, by their real schedulers; claims they share. */
public abstract class JobsContract {
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final List<AutoCloseable> applications = new ArrayList<>();
  private final Desk desk = new Desk();

  /** What an application's jobs are. */
  public enum Jobs {
    /** A job that is due each second, {@code each-second}, and run once each time it is due. */
    EACH_SECOND,

    /**
     * Three by one instance at a time, whose mutex is {@code apart}: each second, a millisecond
     * after the last run, and each ten milliseconds.
     */
    APART
  }

  /** What a run does. */
  @FunctionalInterface
  private interface Work {
    void run(int call) throws Exception;
  }

  /** What the contract and the jobs of all its applications share. Thread-safe. */
  public static final class Desk implements RunListener, TimeSource {
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger atOnce = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicReference<Work> work = new AtomicReference<>(call -> {});

    /** How the runs of each fire time ended. */
    private final Map<RecordId, Queue<RunResult>> ends = new ConcurrentHashMap<>();

    /** What happens as a thread next asks for the time. */
    private final ThreadLocal<Runnable> beforeNow = ThreadLocal.withInitial(() -> () -> {});

    private Desk() {}

    /** A job's work. */
    public void call() throws Exception {
      most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
      try {
        work.get().run(calls.incrementAndGet());
      } finally {
        atOnce.decrementAndGet();
      }
    }

    @Override
    public Moment now() {
      Runnable before = beforeNow.get();
      beforeNow.remove();
      before.run();
      return TimeSource.system().now();
    }

    @Override
    public void ended(RecordId id, RunResult result, Duration took) {
      ends.computeIfAbsent(id, unused -> new ConcurrentLinkedQueue<>()).add(result);
    }

    /** How the runs of a fire time ended so far, at which an instance is, and another waits. */
    private Optional<Queue<RunResult>> busy() {
      return ends.values().stream()
          .filter(each -> each.stream().allMatch(RunResult.Busy.class::isInstance))
          .findAny();
    }

    private long settled(Class<? extends RunResult> how, int times) {
      return ends.values().stream()
          .filter(each -> each.stream().filter(how::isInstance).count() == times)
          .count();
    }
  }

  /**
   * Starts an application that tries twice, and again after 50 ms; closed, it is stopped.
   *
   * @param desk what its jobs call, and what hears of its runs; its clock
   */
  protected abstract AutoCloseable run(Desk desk, ClaimStore store, Jobs jobs);

  private void run(ClaimStore store, Jobs jobs) {
    applications.add(run(desk, store, jobs));
  }

  private FaultyStore store() {
    return new FaultyStore(
        new MemoryClaimStore(
            claims, ClaimSettings.of("shop", "i" + applications.size()), TimeSource.system()));
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : applications) {
      each.close();
    }
  }

  private static void eventually(Callable<Boolean> holds) {
    Awaitility.await()
        .pollInterval(Duration.ofMillis(20))
        .atMost(Duration.ofMinutes(10))
        .until(holds);
  }

  @Test
  void eachFireTime_isRunOnce_amongAllInstances() throws Exception {
    run(store(), Jobs.EACH_SECOND);
    run(store(), Jobs.EACH_SECOND);
    eventually(() -> desk.settled(RunResult.DoneBefore.class, 1) >= 2);
    close();

    assertThat(desk.ends.values())
        .allSatisfy(
            ends ->
                assertThat(ends).filteredOn(RunResult.Ran.class::isInstance).hasSizeLessThan(2));
    assertThat(desk.settled(RunResult.Ran.class, 1)).isEqualTo(desk.calls.get());
    assertThat(desk.ends.keySet())
        .allSatisfy(
            id -> assertThat(id.text()).matches("each-second@\\d+-\\d+-\\d+T\\d+:\\d+:\\d+Z"));
  }

  @Test
  void runThatFails_isTriedAgain_thenGivenUp_andTheNextFireTimeIsRun() throws Exception {
    desk.work.set(
        call -> {
          if (call <= 3) {
            throw new Exception("no bill today");
          }
        });
    run(store(), Jobs.EACH_SECOND);
    eventually(() -> desk.settled(RunResult.Ran.class, 1) >= 2);
    close();

    assertThat(desk.settled(RunResult.AttemptFailed.class, 1))
        .isEqualTo(2); // the second one went well
    assertThat(desk.settled(RunResult.GivenUp.class, 1)).isOne();
  }

  @Test
  void runWhoseInstanceStops_isTakenOver_byTheOneThatWaits() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    AtomicBoolean stopped = new AtomicBoolean();
    // Well within a second, so that both are free at the next, and as long as the other waits.
    desk.work.set(
        call -> {
          boolean takesOver = stopped.get();
          for (int looks = 0; !takesOver && (looks < 25 || desk.busy().isPresent()); looks++) {
            var unused = never.await(20, TimeUnit.MILLISECONDS);
          }
        });
    run(store(), Jobs.EACH_SECOND);
    run(store(), Jobs.EACH_SECOND);
    eventually(() -> desk.atOnce.get() == 1 && desk.busy().isPresent());
    Queue<RunResult> ends = desk.busy().orElseThrow();
    var busy = (RunResult.Busy) ends.element();
    stopped.set(true);

    applications.get(busy.by().equals("i0") ? 0 : 1).close();
    eventually(() -> ends.stream().anyMatch(RunResult.Ran.class::isInstance));
  }

  /**
   * As clients of HTTP and of databases wrap the interrupt. If that comes before the claims are
   * closed, they are closed once the run has ended.
   */
  @Test
  void runThatWrapsItsInterrupt_asItsInstanceStops_hasNotFailed() throws Exception {
    AtomicReference<Thread> working = new AtomicReference<>();
    desk.work.set(
        call -> {
          Thread thread = Thread.currentThread();
          working.set(thread);
          while (!thread.isInterrupted()) {
            LockSupport.park();
          }
          throw new IllegalStateException("wrapped", new InterruptedException());
        });
    run(store(), Jobs.EACH_SECOND);
    eventually(() -> working.get() != null);

    desk.beforeNow.set(
        () -> {
          if (working.get().isInterrupted()) {
            eventually(() -> !desk.ends.isEmpty());
          }
        });
    close();

    assertThat(desk.ends).isEmpty();
  }

  @Test
  void storeThatIsAway_skipsNoFireTime() {
    FaultyStore store = store();
    store.setDenies(true);
    run(store, Jobs.EACH_SECOND);
    eventually(() -> store.calls(FaultyStore.Op.CLAIM) >= 2);
    RecordId first = store.claims().iterator().next().id();
    assertThat(desk.calls).hasValue(0);

    store.setDenies(false);
    eventually(() -> desk.ends.containsKey(first));

    assertThat(desk.ends.get(first)).hasSize(1).first().isInstanceOf(RunResult.Ran.class);
  }

  @Test
  void exclusiveRuns_areApart_whateverTheirSchedule() {
    run(store(), Jobs.APART);
    run(store(), Jobs.APART);
    eventually(() -> desk.calls.get() >= 200);

    assertThat(desk.most).hasValue(1);
  }

  @Test
  void exclusiveRun_doesNotTakePlace_whileAnotherHoldsItsMutex() throws Exception {
    try (Mutex others = new Mutex(store(), RecordId.of("apart"), TimeSource.system());
        var held = others.acquire(Duration.ZERO).orElseThrow()) {
      FaultyStore store = store();
      run(store, Jobs.APART);
      eventually(() -> store.calls(FaultyStore.Op.CLAIM) >= 3);
      assertThat(desk.calls).hasValue(0);
      assertThat(held.isHeld()).isTrue();
    }
    eventually(() -> desk.calls.get() > 0);
  }
}
