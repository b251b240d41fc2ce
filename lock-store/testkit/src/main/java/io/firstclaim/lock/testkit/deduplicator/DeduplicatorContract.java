package io.firstclaim.lock.testkit.deduplicator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Attempted;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.deduplicator.Verdict;
import io.firstclaim.lock.keeper.HeldLease;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.lock.testkit.fault.FaultyStore.Fault;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What {@link Deduplicator} promises, over a store. Of the two who want the work done, {@code a} is
 * connected through a faulty store; the test drives the time.
 */
@Timeout(600)
public abstract class DeduplicatorContract {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration HOLD = LEASE.multipliedBy(9).dividedBy(10);
  private static final Duration MAX_SKEW = Duration.ofSeconds(1);
  private static final RecordId ID = RecordId.of("payment-4711");
  private static final Fingerprint PAYLOAD =
      Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8));
  private static final RetryPolicy TWICE =
      new RetryPolicy(2, new Backoff(Duration.ofSeconds(10), Duration.ofMinutes(1)));

  private final String namespace = "deduplicators-" + Nonce.random();
  protected final ManualTime time = ManualTime.start();
  private final AtomicInteger runs = new AtomicInteger();
  private FaultyStore faulty;
  private Deduplicator a;
  private Deduplicator b;

  /** A store of this holder; all stores that one test asks for share what they keep. */
  protected abstract ClaimStore store(ClaimSettings settings, TimeSource time);

  /** A time that is read back from the store is off by less than this. */
  protected Duration tick() {
    return Duration.ofMillis(1);
  }

  @BeforeEach
  void twoWhoWantItDone() {
    faulty = new FaultyStore(storeOf("a", time));
    a = Deduplicator.builder(faulty, time).retry(TWICE).build();
    TimeSource machine = time.machine(Duration.ZERO);
    b = Deduplicator.builder(storeOf("b", machine), machine).retry(TWICE).build();
  }

  private ClaimStore storeOf(String holder, TimeSource machine) {
    return store(
        new ClaimSettings(namespace, holder, LEASE, MAX_SKEW, Duration.ofDays(8)), machine);
  }

  private RunResult run(Deduplicator by, String result) throws InterruptedException {
    return by.run(
        ID,
        PAYLOAD,
        lease -> {
          runs.incrementAndGet();
          return result;
        });
  }

  private static RunResult failing(Deduplicator by) throws InterruptedException {
    return by.run(
        ID,
        PAYLOAD,
        lease -> {
          throw new IllegalStateException("card declined");
        });
  }

  private static void eventually(Callable<Boolean> holds) {
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .atMost(Duration.ofMinutes(5))
        .until(holds);
  }

  /** Work that goes on until it is interrupted. */
  private static String hang() throws InterruptedException {
    new CountDownLatch(1).await();
    return "never";
  }

  /** Waits for the interrupt, which comes from another thread, and goes on all the same. */
  private static void hearInterrupt() {
    while (!Thread.interrupted()) {
      Thread.onSpinWait();
    }
  }

  /** Runs it on another thread, as this one may be interrupted. */
  private static RunResult elsewhere(Callable<RunResult> run) throws Exception {
    var answer = new FutureTask<>(run);
    Thread thread = Thread.ofVirtual().start(answer);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    RunResult result = answer.get();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return result;
  }

  /** Makes the call while time passes, for as long as it waits. */
  private RunResult passing(Callable<RunResult> run) throws Exception {
    var answer = new FutureTask<>(run);
    Thread running = Thread.ofVirtual().name("running").start(answer);
    time.passFor(running, DeduplicatorContract::nothingIsRenewed);
    return answer.get();
  }

  private void passALease() {
    time.advance(LEASE.plus(MAX_SKEW).plus(tick()).plus(tick()));
  }

  /** A claim may take several requests, a renewal takes one. */
  @Test
  void grantThatComesLate_isRenewed_beforeTheWorkBegins() throws Exception {
    FaultyStore.Hold held = faulty.hold(Op.CLAIM);
    var answer = new FutureTask<>(() -> run(a, "paid"));
    Thread.ofVirtual().start(answer);
    eventually(() -> held.arrived() == 1);
    time.advance(LEASE);

    held.release();

    assertThat(answer.get()).isEqualTo(new RunResult.Ran("paid"));
    assertThat(faulty.calls(Op.RENEW)).isOne();
  }

  @Test
  void work_runsOnce_andItsResultIsAnsweredToWhoComesLater() throws Exception {
    assertThat(run(a, "receipt 1")).isEqualTo(new RunResult.Ran("receipt 1"));

    for (Deduplicator later : List.of(a, b)) {
      assertThat(run(later, "receipt 2"))
          .isInstanceOfSatisfying(
              RunResult.DoneBefore.class,
              done -> {
                assertThat(done.result()).isEqualTo("receipt 1");
                assertThat(done.ending().by()).isEqualTo("a");
                assertThat(done.ending().attempt()).isEqualTo(1);
              });
    }
    assertThat(runs).hasValue(1);
  }

  @Test
  void workWithoutAResult_isDoneAllTheSame() throws Exception {
    assertThat(a.run(ID, PAYLOAD, lease -> null)).isEqualTo(new RunResult.Ran(null));
    assertThat(run(b, "receipt"))
        .isInstanceOfSatisfying(
            RunResult.DoneBefore.class, done -> assertThat(done.result()).isNull());
  }

  @Test
  void workUnderWay_isBusyForOthers() throws Exception {
    RunResult ran =
        a.run(
            ID,
            PAYLOAD,
            lease -> {
              assertThat(lease.token()).isEqualTo(1);
              assertThat(lease.attempt()).isEqualTo(1);
              assertThat(lease.isHeld()).isTrue();
              lease.ensureHeld();
              assertThat(run(b, "receipt 2"))
                  .isInstanceOfSatisfying(
                      RunResult.Busy.class,
                      busy -> {
                        assertThat(busy.by()).isEqualTo("a");
                        assertThat(busy.remaining())
                            .isBetween(LEASE.minus(tick()), LEASE.plus(MAX_SKEW).plus(tick()));
                      });
              return "receipt 1";
            });
    assertThat(ran).isEqualTo(new RunResult.Ran("receipt 1"));
    assertThat(runs).hasValue(0);
  }

  @Test
  void manyAtOnce_runItOnce() throws Exception {
    List<Callable<RunResult>> many = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Deduplicator by = i % 2 == 0 ? a : b;
      many.add(() -> run(by, "receipt"));
    }
    List<RunResult> results = Collections.synchronizedList(new ArrayList<>());
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (var answer : threads.invokeAll(many)) {
        results.add(answer.get());
      }
    }
    assertThat(runs).hasValue(1);
    assertThat(results).filteredOn(RunResult.Ran.class::isInstance).hasSize(1);
    assertThat(results)
        .allMatch(
            result ->
                result instanceof RunResult.Ran
                    || result instanceof RunResult.Busy
                    || result instanceof RunResult.DoneBefore);
  }

  @Test
  void workThatOutlastsItsLease_isRenewedMeanwhile() throws Exception {
    RunResult ran =
        a.run(
            ID,
            PAYLOAD,
            lease -> {
              for (int renewals = 1; renewals <= 6; renewals++) {
                int sent = renewals;
                time.awaitSleeper("firstclaim-leases");
                time.advance(LEASE.dividedBy(3));
                eventually(() -> faulty.calls(Op.RENEW) == sent);
                eventually(DeduplicatorContract::nothingIsRenewed);
              }
              lease.ensureHeld();
              return "receipt";
            });
    assertThat(ran).isEqualTo(new RunResult.Ran("receipt"));
  }

  private static boolean nothingIsRenewed() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .noneMatch(name -> name.equals("firstclaim-renewal") || name.equals("firstclaim-lost"));
  }

  @Test
  void workThatThrows_isTriedAgain_whenItIsDue() throws Exception {
    Instant begin = time.now().wall();
    var failed = (RunResult.AttemptFailed) failing(a);
    assertThat(failed.attempts()).isEqualTo(1);
    assertThat(failed.cause()).hasMessage("card declined");
    assertThat(failed.retryAt()).isBetween(begin.plusSeconds(5), begin.plusSeconds(10));

    assertThat(run(b, "receipt"))
        .isInstanceOfSatisfying(
            RunResult.NotDue.class,
            notDue -> {
              assertThat(notDue.attempts()).isEqualTo(1);
              assertThat(notDue.retryAt())
                  .isBetween(failed.retryAt().minus(tick()), failed.retryAt().plus(tick()));
            });
    assertThat(runs).hasValue(0);

    time.advance(Duration.ofSeconds(10).plus(tick()));
    RunResult second =
        b.run(ID, PAYLOAD, lease -> "attempt " + lease.attempt() + ", token " + lease.token());
    assertThat(second).isEqualTo(new RunResult.Ran("attempt 2, token 2"));
  }

  @Test
  void whateverWorkThrows_isAFailedAttempt() throws Exception {
    RunResult result =
        a.run(
            ID,
            PAYLOAD,
            lease -> {
              throw new StackOverflowError("as the test asked for");
            });
    assertThat(result)
        .isInstanceOfSatisfying(
            RunResult.AttemptFailed.class,
            failed -> assertThat(failed.cause()).isInstanceOf(StackOverflowError.class));
  }

  @Test
  void workThatFailsAtItsLastAttempt_isGivenUp_forGood() throws Exception {
    assertThat(failing(a)).isInstanceOf(RunResult.AttemptFailed.class);
    time.advance(Duration.ofSeconds(10).plus(tick()));

    RunResult last = failing(a);
    passALease();
    RunResult later = run(b, "receipt");

    for (RunResult result : List.of(last, later)) {
      assertThat(result)
          .isInstanceOfSatisfying(
              RunResult.GivenUp.class,
              givenUp -> {
                assertThat(givenUp.cause())
                    .isEqualTo("java.lang.IllegalStateException: card declined");
                assertThat(givenUp.ending().by()).isEqualTo("a");
                assertThat(givenUp.ending().attempt()).isEqualTo(2);
              });
    }
    assertThat(runs).hasValue(0);
  }

  /** Work that always fails, and has a dead letter. */
  private static final class Lettered implements Deduplicator.Work {
    private final List<String> letters = new ArrayList<>();
    private boolean refused;
    private int runs;

    @Override
    public String run(HeldLease lease) {
      runs++;
      throw new IllegalStateException("card declined");
    }

    @Override
    public void beforeGivenUp(HeldLease lease, int attempts, String cause) throws IOException {
      if (refused) {
        throw new IOException("no acknowledgement");
      }
      letters.add(attempts + ": " + cause);
    }
  }

  @Test
  void whatComesBeforeGivingUp_isDoneOnce_beforeTheLastAttemptIsRecorded() throws Exception {
    Lettered work = new Lettered();
    assertThat(a.run(ID, PAYLOAD, work)).isInstanceOf(RunResult.AttemptFailed.class);
    assertThat(work.letters).isEmpty();
    time.advance(Duration.ofSeconds(10).plus(tick()));

    assertThat(a.run(ID, PAYLOAD, work)).isInstanceOf(RunResult.GivenUp.class);
    assertThat(b.run(ID, PAYLOAD, work)).isInstanceOf(RunResult.GivenUp.class);

    assertThat(work.letters).containsExactly("2: java.lang.IllegalStateException: card declined");
  }

  @Test
  void workIsNotGivenUp_whileWhatComesBeforeFails_norIsItRunAgain() throws Exception {
    Lettered work = new Lettered();
    work.refused = true;
    assertThat(a.run(ID, PAYLOAD, work)).isInstanceOf(RunResult.AttemptFailed.class);
    for (int attempt = 2; attempt <= 4; attempt++) {
      time.advance(Duration.ofMinutes(1).plus(tick()));
      assertThat(a.run(ID, PAYLOAD, work))
          .isInstanceOfSatisfying(
              RunResult.AttemptFailed.class,
              failed -> assertThat(failed.cause()).hasMessage("no acknowledgement"));
    }
    work.refused = false;
    time.advance(Duration.ofMinutes(1).plus(tick()));

    assertThat(run(b, "receipt")).isInstanceOf(RunResult.GivenUp.class);
    assertThat(runs).hasValue(0);
  }

  @Test
  void workOfOneAttempt_isNotRunAgain_whileWhatComesBeforeGivingUpFails() throws Exception {
    Deduplicator once =
        Deduplicator.builder(storeOf("c", time), time)
            .retry(new RetryPolicy(1, TWICE.backoff()))
            .build();
    Lettered work = new Lettered();
    work.refused = true;
    for (int failures = 1; failures <= 3; failures++) {
      assertThat(once.run(ID, PAYLOAD, work))
          .isInstanceOfSatisfying(
              RunResult.AttemptFailed.class,
              failed -> {
                assertThat(failed.cause()).hasMessage("no acknowledgement");
                assertThat(failed.attempts()).isOne();
              });
      time.advance(Duration.ofMinutes(1).plus(tick()));
    }
    work.refused = false;

    assertThat(once.run(ID, PAYLOAD, work)).isInstanceOf(RunResult.GivenUp.class);
    assertThat(work.runs).isOne();
    assertThat(work.letters)
        .containsExactly("1: its attempts are used up, and none of them has recorded an end");
  }

  @Test
  void workThatKillsItsProcess_isGivenUp_unrun_onceItsAttemptsAreUsedUp() throws Exception {
    for (int attempt = 1; attempt <= 2; attempt++) {
      dieAtWork(b);
      passALease();
    }
    assertThat(run(a, "receipt"))
        .isInstanceOfSatisfying(
            RunResult.GivenUp.class,
            givenUp ->
                assertThat(givenUp.cause())
                    .isEqualTo("its attempts are used up, and none of them has recorded an end"));
    assertThat(runs).hasValue(0);
  }

  @Test
  void otherPayload_isRefused_byItsFingerprint() throws Exception {
    assertThat(run(a, "receipt")).isInstanceOf(RunResult.Ran.class);

    assertThat(b.run(ID, Fingerprint.none(), lease -> "other"))
        .isEqualTo(new RunResult.OtherPayload(PAYLOAD));
  }

  @Test
  void leaseThatSomebodyElseHas_interruptsTheWork_andNothingIsRecorded() throws Exception {
    var told = new AtomicInteger();
    RunResult result =
        a.run(
            ID,
            PAYLOAD,
            lease -> {
              lease.whenLost(told::incrementAndGet);
              faulty.setDown(true);
              time.awaitSleeper("firstclaim-leases");
              passALease();
              assertThat(elsewhere(() -> run(b, "receipt of b")))
                  .isEqualTo(new RunResult.Ran("receipt of b"));
              assertThat(lease.isHeld()).isFalse();
              assertThatThrownBy(lease::ensureHeld).isInstanceOf(LeaseLostException.class);
              faulty.setDown(false);
              try {
                return hang();
              } finally { // the loss is told after the interrupt, and before the work has ended
                eventually(() -> told.get() == 1);
              }
            });
    assertThat(result).isInstanceOf(RunResult.LeaseLost.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    assertThat(run(a, "again"))
        .isInstanceOfSatisfying(
            RunResult.DoneBefore.class,
            done -> assertThat(done.result()).isEqualTo("receipt of b"));
  }

  @Test
  void leaseThatTheStoreDoesNotRenewInTime_isNoAttempt() throws Exception {
    faulty.next(Op.RENEW, Fault.LOST_REQUEST);
    RunResult result =
        a.run(
            ID,
            PAYLOAD,
            lease -> {
              time.awaitSleeper("firstclaim-leases");
              time.advance(LEASE.dividedBy(3));
              eventually(() -> faulty.calls(Op.RENEW) == 1);
              time.awaitSleeper("firstclaim-leases");
              passALease();
              return hang();
            });
    assertLost(result);
    RunResult next = b.run(ID, PAYLOAD, lease -> "attempt " + lease.attempt());
    assertThat(next).isEqualTo(new RunResult.Ran("attempt 1"));
  }

  @Test
  void leaseThatIsLostToNobody_leavesTheWorkToWhoComesNext() throws Exception {
    RunResult result =
        a.run(
            ID,
            PAYLOAD,
            lease -> {
              faulty.nextRenewal(new SettleResult.Lost(null));
              time.awaitSleeper("firstclaim-leases");
              time.advance(LEASE.dividedBy(3));
              return hang();
            });
    assertLost(result);
    time.advance(tick());
    assertThat(run(b, "receipt")).isEqualTo(new RunResult.Ran("receipt"));
  }

  /** The lease was lost to nobody, and the work was interrupted. */
  private static void assertLost(RunResult result) {
    assertThat(result)
        .isInstanceOfSatisfying(
            RunResult.LeaseLost.class,
            lost -> {
              assertThat(lost.by()).isNull();
              assertThat(lost.thrown()).isInstanceOf(InterruptedException.class);
            });
  }

  @Test
  void whatTheWorkThrew_isTold_howeverItEnded() throws Exception {
    IllegalStateException declined = new IllegalStateException("card declined");
    Deduplicator once =
        Deduplicator.builder(faulty, time).retry(new RetryPolicy(1, TWICE.backoff())).build();

    RunResult unknown =
        passing(
            () ->
                once.run(
                    RecordId.of("unknown"),
                    PAYLOAD,
                    lease -> {
                      faulty.setDown(true);
                      throw declined;
                    }));
    faulty.setDown(false);
    RunResult givenUp =
        once.run(
            ID,
            PAYLOAD,
            lease -> {
              throw declined;
            });

    assertThat(unknown)
        .isInstanceOfSatisfying(
            RunResult.Unknown.class, ended -> assertThat(ended.thrown()).isSameAs(declined));
    assertThat(givenUp)
        .isInstanceOfSatisfying(
            RunResult.GivenUp.class, ended -> assertThat(ended.thrown()).isSameAs(declined));
    assertThat(run(a, "receipt"))
        .isInstanceOfSatisfying(
            RunResult.GivenUp.class, later -> assertThat(later.thrown()).isNull());
  }

  @Test
  void effects_areRefusedBeforeTheClaim_byAStoreThatWritesNone() {
    assumeFalse(faulty.writesEffects());
    assertThatThrownBy(
            () ->
                a.runWithEffects(
                    ID, PAYLOAD, lease -> new Deduplicator.Completion("receipt", new Effects() {})))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("writes no effects");
    assertThat(faulty.calls()).isZero();
  }

  @Test
  void endWhoseAnswerIsLost_isRecognised() throws Exception {
    faulty.next(Op.COMPLETE, Fault.LOST_ANSWER);
    assertThat(run(a, "receipt")).isEqualTo(new RunResult.Ran("receipt"));
    assertThat(faulty.calls(Op.COMPLETE)).isEqualTo(2);
  }

  @Test
  void endThatTheStoreDoesNotConfirmWithinTheLease_isUnknown() throws Exception {
    var answer =
        new FutureTask<RunResult>(
            () ->
                a.run(
                    ID,
                    PAYLOAD,
                    lease -> {
                      faulty.setDown(true);
                      return "receipt";
                    }));
    Thread running = Thread.ofVirtual().name("running").start(answer);
    time.passFor(running, DeduplicatorContract::nothingIsRenewed);

    assertThat(answer.get()).isEqualTo(new RunResult.Unknown("no answer to COMPLETE"));
    assertThat(time.elapsed()).isBetween(HOLD, LEASE.plusSeconds(5));
  }

  @Test
  void workThatIsInterruptedFromOutside_isGivenBack_uncounted() throws Exception {
    assertThatThrownBy(
            () ->
                a.run(
                    ID,
                    PAYLOAD,
                    lease -> {
                      Thread.currentThread().interrupt();
                      return hang();
                    }))
        .isInstanceOf(InterruptedException.class);

    assertThat(b.run(ID, PAYLOAD, lease -> "attempt " + lease.attempt()))
        .isEqualTo(new RunResult.Ran("attempt 1"));
  }

  /** As by {@code shutdownNow}, during work that does not block. */
  @Test
  void interruptThatWorkDoesNotHeed_isStillTheCallers_whenItIsDone() throws Exception {
    RunResult result =
        a.run(
            ID,
            PAYLOAD,
            lease -> {
              Thread.currentThread().interrupt();
              return "receipt";
            });

    assertThat(Thread.interrupted()).isTrue();
    assertThat(result).isEqualTo(new RunResult.Ran("receipt"));
  }

  @Test
  void storeThatCannotBeAsked_isAskedForTenSeconds_thenItIsAFault_andNothingRuns() {
    faulty.setDown(true);
    assertUnavailable(() -> run(a, "receipt"));
    assertThat(runs).hasValue(0);
    assertThat(time.elapsed()).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(20));
  }

  private void assertUnavailable(Callable<RunResult> run) {
    assertThatThrownBy(() -> passing(run)).hasCauseInstanceOf(StoreUnavailableException.class);
  }

  // Grants of which nobody hears

  /** Claims and begins the work, as a process does that ends then. */
  private static void dieAtWork(Deduplicator by) throws InterruptedException {
    var granted = (ClaimResult.Granted) by.claim(ID, PAYLOAD);
    var unused =
        by.attempt(
            granted,
            kept -> {
              assertThat(kept.begin()).isInstanceOf(SettleResult.Settled.class);
              return new Verdict.Leave();
            });
  }

  private void muteClaimsForAWhile() {
    Duration end = time.elapsed().plusSeconds(15);
    faulty.muteWhile(Op.CLAIM, () -> time.elapsed().compareTo(end) < 0);
  }

  @Test
  void claimWhoseAnswerIsLost_isSentAgain_andIsOneGrant() throws Exception {
    faulty.next(Op.CLAIM, Fault.LOST_ANSWER, Fault.LOST_REQUEST, Fault.LOST_ANSWER);

    RunResult result =
        passing(() -> a.run(ID, PAYLOAD, lease -> lease.attempt() + ", " + lease.token()));

    assertThat(result).isEqualTo(new RunResult.Ran("1, 1"));
    assertThat(faulty.calls(Op.CLAIM)).isEqualTo(4);
  }

  @Test
  void claimThatWasNeverAnswered_isGoneOnWith_byTheNextCall() throws Exception {
    muteClaimsForAWhile();
    assertUnavailable(() -> run(a, "receipt"));
    time.advance(Duration.ofSeconds(5));

    assertThat(run(b, "receipt of b")).isInstanceOf(RunResult.Busy.class);
    assertThat(run(a, "receipt")).isEqualTo(new RunResult.Ran("receipt"));
    assertThat(runs).hasValue(1);
  }

  @Test
  void claimThatWasNeverAnswered_isOneCallersAlone() throws Exception {
    muteClaimsForAWhile();
    assertUnavailable(() -> run(a, "receipt"));
    time.advance(Duration.ofSeconds(5));

    RunResult result =
        a.run(
            ID,
            PAYLOAD,
            lease -> {
              assertThat(run(a, "of another caller")).isInstanceOf(RunResult.Busy.class);
              return "receipt";
            });

    assertThat(result).isEqualTo(new RunResult.Ran("receipt"));
    assertThat(runs).hasValue(0);
  }

  /** What the store permits no more may have been applied before. */
  @Test
  void claimThatWasNeverAnswered_isGoneOnWith_evenAfterARefusal() throws Exception {
    faulty.next(Op.CLAIM, Fault.LOST_ANSWER, Fault.DENIED);
    assertThatThrownBy(() -> passing(() -> run(a, "never")))
        .hasCauseInstanceOf(StoreRefusedException.class);

    assertThat(run(a, "receipt")).isEqualTo(new RunResult.Ran("receipt"));
    assertThat(runs).hasValue(1);
  }

  /**
   * It is sent with the nonce of its first grant, of which nobody heard; the token tells them
   * apart.
   */
  @Test
  void claimThatWasNeverAnswered_andWasTakenOver_isGrantedByAHigherToken() throws Exception {
    muteClaimsForAWhile();
    assertUnavailable(() -> run(a, "receipt"));
    time.advance(LEASE.multipliedBy(2));
    Deduplicator.Work interrupted =
        lease -> {
          throw new InterruptedException();
        };
    assertThatThrownBy(() -> b.run(ID, PAYLOAD, interrupted))
        .isInstanceOf(InterruptedException.class);

    assertThat(a.run(ID, PAYLOAD, lease -> "token " + lease.token()))
        .isEqualTo(new RunResult.Ran("token 3"));
    assertThat(run(b, "receipt of b")).isInstanceOf(RunResult.DoneBefore.class);
  }

  @Test
  void claimThatWasNeverAnswered_isNotForAnotherPayload() throws Exception {
    muteClaimsForAWhile();
    assertUnavailable(() -> run(a, "receipt"));
    time.advance(Duration.ofSeconds(5));

    assertThat(a.run(ID, Fingerprint.none(), lease -> "other"))
        .isEqualTo(new RunResult.OtherPayload(PAYLOAD));
    assertThat(run(a, "receipt")).isEqualTo(new RunResult.Ran("receipt"));
  }

  /** As in a cut of some minutes, while processes are started again and again. */
  @Test
  void grantsOfWhichNobodyHeard_buryNothing() throws Exception {
    for (int attempts : new int[] {1, 2}) {
      RecordId id = RecordId.of("payment-" + attempts);
      RetryPolicy policy = new RetryPolicy(attempts, TWICE.backoff());
      for (int process = 0; process < 6; process++) {
        muteClaimsForAWhile();
        Deduplicator started = Deduplicator.builder(faulty, time).retry(policy).build();
        assertUnavailable(() -> started.run(id, PAYLOAD, lease -> "never"));
        time.advance(LEASE.multipliedBy(2));
      }
      Deduplicator healthy = Deduplicator.builder(faulty, time).retry(policy).build();
      assertThat(healthy.run(id, PAYLOAD, lease -> "attempt " + lease.attempt()))
          .isEqualTo(new RunResult.Ran("attempt 2"));
    }
  }

  @Test
  void grantOfWhichNobodyHeard_isNoAttempt_amongThoseThatKillTheirProcess() throws Exception {
    dieAtWork(b);
    passALease();
    muteClaimsForAWhile();
    assertUnavailable(() -> run(Deduplicator.builder(faulty, time).build(), "never"));
    time.advance(LEASE.multipliedBy(2));
    dieAtWork(b);
    passALease();

    assertThat(run(b, "receipt")).isInstanceOf(RunResult.GivenUp.class);
    assertThat(runs).hasValue(0);
  }

  @Test
  void firstAttempt_isTwoWrites_andALaterOneThree() throws Exception {
    assertThat(failing(a)).isInstanceOf(RunResult.AttemptFailed.class);
    assertThat(faulty.calls()).isEqualTo(2);
    time.advance(Duration.ofSeconds(10).plus(tick()));

    assertThat(run(a, "receipt")).isEqualTo(new RunResult.Ran("receipt"));
    assertThat(faulty.calls()).isEqualTo(5);
    assertThat(faulty.calls(Op.RENEW)).isOne();
  }

  @Test
  void lostAnswersOfRenewalAndBeginning_areBothMadeUpFor() throws Exception {
    dieAtWork(b);
    passALease();
    var granted = (ClaimResult.Granted) a.claim(ID, PAYLOAD);
    time.advance(LEASE.dividedBy(2));
    faulty.next(Op.RENEW, Fault.LOST_ANSWER);
    Attempted attempted =
        a.attempt(
            granted,
            kept -> {
              assertThat(kept.begin()).isInstanceOf(SettleResult.Settled.class);
              return new Verdict.Leave();
            });
    assertThat(attempted.answer()).isInstanceOf(SettleResult.Settled.class);
    passALease();

    assertThat(run(b, "receipt")).isInstanceOf(RunResult.GivenUp.class);
  }

  @Test
  void laterAttempt_doesNotBegin_unlessThatIsRecorded() throws Exception {
    assertThat(failing(a)).isInstanceOf(RunResult.AttemptFailed.class);
    for (Fault fault : List.of(Fault.LOST_REQUEST, Fault.LOST_ANSWER)) {
      time.advance(Duration.ofSeconds(10).plus(tick()));
      faulty.next(Op.RENEW, fault);
      assertUnavailable(() -> run(a, "never"));
      assertThat(runs).hasValue(0);
    }
    time.advance(tick());

    assertThat(b.run(ID, PAYLOAD, lease -> "attempt " + lease.attempt()))
        .isEqualTo(new RunResult.Ran("attempt 2"));
  }

  @Test
  void grantThatSomebodyElseHasByTheTimeItComes_isLost_andNothingRuns() throws Exception {
    FaultyStore.Hold held = faulty.hold(Op.RENEW);
    assertThat(failing(b)).isInstanceOf(RunResult.AttemptFailed.class);
    time.advance(Duration.ofSeconds(10).plus(tick()));
    var answer = new FutureTask<>(() -> run(a, "never"));
    Thread.ofVirtual().start(answer);
    eventually(() -> held.arrived() == 1);
    passALease();
    assertThat(run(b, "receipt of b")).isEqualTo(new RunResult.Ran("receipt of b"));

    held.release();

    assertThat(answer.get()).isInstanceOf(RunResult.LeaseLost.class);
    assertThat(runs).hasValue(1);
  }

  /** The holder's own clock says that the lease still runs. */
  @Test
  void lateGrantThatIsLost_isNotWorkedOn() throws Exception {
    FaultyStore.Hold claim = faulty.hold(Op.CLAIM);
    faulty.nextRenewal(new SettleResult.Lost("b"));
    var answer = new FutureTask<>(() -> run(a, "never"));
    Thread.ofVirtual().start(answer);
    eventually(() -> claim.arrived() == 1);
    time.advance(LEASE.dividedBy(2));

    claim.release();

    assertThat(answer.get()).isEqualTo(new RunResult.LeaseLost("b"));
    assertThat(runs).hasValue(0);
  }

  @Test
  void attemptWithAVerdictOfItsOwn_isSettledAsItSays_howeverLongThatTakes() throws Exception {
    var granted = (ClaimResult.Granted) a.claim(ID, PAYLOAD);
    Instant due = time.now().wall().plusSeconds(60);
    var verdict = new Verdict.Release(due, 0, "not here");
    faulty.downWhile(() -> time.elapsed().compareTo(LEASE.multipliedBy(2)) < 0);
    var answer = new FutureTask<Attempted>(() -> a.attempt(granted, lease -> verdict));
    Thread running = Thread.ofVirtual().name("running").start(answer);
    time.passFor(running, DeduplicatorContract::nothingIsRenewed);

    assertThat(answer.get().verdict()).isEqualTo(verdict);
    assertThat(answer.get().answer()).isInstanceOf(SettleResult.Settled.class);
    assertThat(b.claim(ID, PAYLOAD)).isNotInstanceOf(ClaimResult.Held.class);
  }

  @Test
  void nextAttempt_isDueAfterTheTimeThatWasMeant_thoughTheClockIsSetBackUntilThatIsStored()
      throws Exception {
    var granted = (ClaimResult.Granted) a.claim(ID, PAYLOAD);
    Duration pause = Duration.ofMinutes(10);
    var verdict = new Verdict.Release(time.now().wall().plus(pause), 1, "not yet");
    faulty.downWhile(
        Op.RELEASE,
        () -> {
          time.setSkew(Duration.ofHours(-1));
          return time.elapsed().compareTo(LEASE.dividedBy(2)) < 0;
        });
    var answer = new FutureTask<Attempted>(() -> a.attempt(granted, lease -> verdict));
    Thread running = Thread.ofVirtual().name("running").start(answer);
    time.passFor(running, DeduplicatorContract::nothingIsRenewed);
    assertThat(answer.get().answer()).isInstanceOf(SettleResult.Settled.class);

    assertThat(a.claim(ID, PAYLOAD))
        .isInstanceOfSatisfying(
            ClaimResult.Later.class,
            later ->
                assertThat(Duration.between(time.now().wall(), later.retryAt()))
                    .isBetween(Duration.ZERO, pause.plus(tick())));
  }

  @Test
  void attemptWhoseEndIsNotWorthTryingAgain_isUnknown_whileTheStoreDoesNotAnswer()
      throws Exception {
    var granted = (ClaimResult.Granted) a.claim(ID, PAYLOAD);
    faulty.setDown(true);

    Attempted left = a.attempt(granted, lease -> new Verdict.Complete("receipt"), lease -> false);

    assertThat(left.answer()).isInstanceOf(SettleResult.Unknown.class);
    assertThat(b.claim(ID, PAYLOAD)).isInstanceOf(ClaimResult.Held.class);
  }

  @Test
  void attemptThatLeavesThingsAsTheyAre_letsItsLeaseRunOut() throws Exception {
    var granted = (ClaimResult.Granted) a.claim(ID, PAYLOAD);
    Attempted left = a.attempt(granted, lease -> new Verdict.Leave());

    assertThat(left.answer()).isEqualTo(new SettleResult.Settled(granted.lease()));
    assertThat(b.claim(ID, PAYLOAD)).isInstanceOf(ClaimResult.Held.class);
    passALease();
    assertThat(run(b, "receipt")).isInstanceOf(RunResult.Ran.class);
  }

  // Work that hangs, and a process that ends

  private void passForWorker(Duration by) throws InterruptedException {
    keeperHasLooked();
    time.advance(by);
  }

  /** The keeper has looked at this time, and a renewal that it began then has ended. */
  private void keeperHasLooked() throws InterruptedException {
    time.awaitSleeper("firstclaim-leases");
    eventually(DeduplicatorContract::nothingIsRenewed);
  }

  private Deduplicator bounded() {
    return Deduplicator.builder(faulty, time).retry(TWICE).atMost(LEASE.dividedBy(6)).build();
  }

  @Test
  void workThatTakesTooLong_isInterrupted_andHasFailed() throws Exception {
    RunResult result =
        bounded()
            .run(
                ID,
                PAYLOAD,
                lease -> {
                  passForWorker(LEASE.dividedBy(6));
                  return hang();
                });
    assertThat(result)
        .isInstanceOfSatisfying(
            RunResult.AttemptFailed.class,
            failed -> {
              assertThat(failed.attempts()).isEqualTo(1);
              assertThat(failed.cause())
                  .isInstanceOf(TimeoutException.class)
                  .hasMessage("the work took longer than PT5S");
            });
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void workThatEndsLate_isRecorded_thoughTheFirstTryHasNoAnswer() throws Exception {
    faulty.next(Op.COMPLETE, Fault.LOST_REQUEST);

    RunResult result =
        bounded()
            .run(
                ID,
                PAYLOAD,
                lease -> {
                  passForWorker(LEASE.dividedBy(6));
                  hearInterrupt();
                  return "receipt";
                });

    assertThat(result).isEqualTo(new RunResult.Ran("receipt"));
    assertThat(run(b, "receipt of b")).isInstanceOf(RunResult.DoneBefore.class);
  }

  @Test
  void workThatHeedsNoInterrupt_isKeptOneLeaseMore_thenOthersDoIt() throws Exception {
    RunResult result =
        bounded()
            .run(
                ID,
                PAYLOAD,
                lease -> {
                  passForWorker(LEASE.dividedBy(6));
                  hearInterrupt();
                  assertThat(lease.isHeld()).isFalse();
                  for (int third = 0; third < 3; third++) {
                    passForWorker(LEASE.dividedBy(3));
                    keeperHasLooked();
                    assertThat(elsewhere(() -> run(b, "too early")))
                        .isInstanceOf(RunResult.Busy.class);
                  }
                  passALease();
                  assertThat(elsewhere(() -> run(b, "receipt of b")))
                      .isEqualTo(new RunResult.Ran("receipt of b"));
                  return "too late";
                });
    assertThat(result).isEqualTo(new RunResult.LeaseLost("b"));
    assertThat(runs).hasValue(1);
  }

  /** As clients of HTTP and of databases wrap the interrupt. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void closing_interruptsTheWork_andGivesItBackUncounted(boolean wraps) throws Exception {
    var working = new CountDownLatch(1);
    var answer =
        new FutureTask<>(
            () ->
                a.run(
                    ID,
                    PAYLOAD,
                    lease -> {
                      working.countDown();
                      try {
                        return hang();
                      } catch (InterruptedException e) {
                        throw wraps ? new IllegalStateException("wrapped", e) : e;
                      }
                    }));
    Thread running = Thread.ofVirtual().name("running").start(answer);
    working.await();
    Thread closing = Thread.ofVirtual().name("closing").start(a::close);
    running.join();
    time.passFor(closing, DeduplicatorContract::nothingIsRenewed);

    assertThatThrownBy(answer::get).hasCauseInstanceOf(InterruptedException.class);
    assertThatThrownBy(() -> run(a, "never"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("payment-4711 is not claimed: the deduplicator is closed");
    assertThat(b.run(ID, PAYLOAD, lease -> "attempt " + lease.attempt()))
        .isEqualTo(new RunResult.Ran("attempt 1"));
  }

  /** Closes it on a thread of its own, up to where that has to wait, or to the end. */
  private Thread closing(Deduplicator closed) {
    Thread closing = Thread.ofVirtual().name("closing").start(closed::close);
    eventually(
        () ->
            switch (closing.getState()) {
              case WAITING, TIMED_WAITING, TERMINATED -> true;
              default -> false;
            });
    return closing;
  }

  /** A run of {@link #a} that is held at the store, and the close that has come meanwhile. */
  private record UnderWay(
      FaultyStore.Hold held, FutureTask<RunResult> answer, Thread running, Thread closing) {}

  private UnderWay closedDuring(Op step) {
    FaultyStore.Hold held = faulty.hold(step);
    var answer = new FutureTask<>(() -> run(a, "never"));
    Thread running = Thread.ofVirtual().name("running").start(answer);
    eventually(() -> held.arrived() == 1);
    return new UnderWay(held, answer, running, closing(a));
  }

  private void letGoOn(UnderWay run) throws InterruptedException {
    run.held.release();
    run.running.join();
    time.passFor(run.closing, DeduplicatorContract::nothingIsRenewed);
  }

  private void assertClosedUnrun(FutureTask<RunResult> answer) {
    assertThatThrownBy(answer::get)
        .cause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("payment-4711 is not claimed: the deduplicator is closed");
    assertThat(runs).hasValue(0);
  }

  @Test
  void closingWhileAClaimIsUnderWay_awaitsIt_andGivesItsGrantBackUncounted() throws Exception {
    UnderWay run = closedDuring(Op.CLAIM);
    assertThat(run.closing.isAlive()).as("it awaits the claim").isTrue();

    letGoOn(run);

    assertClosedUnrun(run.answer);
    assertThat(b.run(ID, PAYLOAD, lease -> "attempt " + lease.attempt()))
        .isEqualTo(new RunResult.Ran("attempt 1"));
  }

  /** As a pool that is shut down does to its threads; the AWS SDK sends nothing on such a one. */
  @Test
  void closingWhileAClaimIsUnderWay_onAThreadThatIsInterrupted_givesItBackAllTheSame()
      throws Exception {
    faulty.downWhile(Op.RELEASE, () -> Thread.currentThread().isInterrupted());
    UnderWay run = closedDuring(Op.CLAIM);

    run.running.interrupt();
    letGoOn(run);

    assertThat(runs).hasValue(0);
    assertThat(b.run(ID, PAYLOAD, lease -> "attempt " + lease.attempt()))
        .isEqualTo(new RunResult.Ran("attempt 1"));
  }

  @Test
  void closingBeforeTheWorkBegins_givesItBackUncounted() throws Exception {
    assertThat(failing(b)).isInstanceOf(RunResult.AttemptFailed.class);
    time.advance(Duration.ofSeconds(10).plus(tick()));
    UnderWay run = closedDuring(Op.RENEW);

    letGoOn(run);

    assertClosedUnrun(run.answer);
    assertThat(b.run(ID, PAYLOAD, lease -> "attempt " + lease.attempt()))
        .isEqualTo(new RunResult.Ran("attempt 2"));
  }

  @Test
  void closingWhileAClaimIsUnderWay_thatIsNeverAnswered_givesItBack() throws Exception {
    faulty.next(Op.CLAIM, Fault.LOST_ANSWER, Fault.DENIED);
    var answer = new FutureTask<>(() -> run(a, "never"));
    Thread running = Thread.ofVirtual().name("running").start(answer);
    time.awaitSleeper("running");
    Thread closing = closing(a);

    time.passFor(running, DeduplicatorContract::nothingIsRenewed);
    time.passFor(closing, DeduplicatorContract::nothingIsRenewed);

    assertThatThrownBy(answer::get).hasCauseInstanceOf(StoreRefusedException.class);
    assertThat(run(b, "receipt of b")).isEqualTo(new RunResult.Ran("receipt of b"));
  }

  @Test
  void closing_givesBackWhatWasClaimedWithoutAnAnswer() throws Exception {
    muteClaimsForAWhile();
    assertUnavailable(() -> run(a, "receipt"));
    time.advance(Duration.ofSeconds(5));
    assertThat(run(b, "receipt of b")).isInstanceOf(RunResult.Busy.class);

    a.close();

    assertThat(run(b, "receipt of b")).isEqualTo(new RunResult.Ran("receipt of b"));
  }

  @Test
  void listener_hearsHowEachRunEnded_andItsFailureIsItsOwn() throws Exception {
    var heard = new ArrayList<String>();
    Deduplicator told =
        Deduplicator.builder(faulty, time)
            .listener(
                (id, result, took) -> {
                  heard.add(id + " " + result.getClass().getSimpleName());
                  throw new IllegalStateException("the listener's defect");
                })
            .build();
    assertThat(run(told, "receipt")).isInstanceOf(RunResult.Ran.class);
    assertThat(run(told, "receipt")).isInstanceOf(RunResult.DoneBefore.class);
    assertThat(told.run(ID, Fingerprint.none(), lease -> "other"))
        .isInstanceOf(RunResult.OtherPayload.class);

    assertThat(heard)
        .containsExactly(
            "payment-4711 Ran", "payment-4711 DoneBefore", "payment-4711 OtherPayload");
  }

  // Faults that no retry can mend

  @Test
  void workWhoseResultIsTooLarge_hasFailed() throws Exception {
    faulty.next(Op.COMPLETE, Fault.TOO_LARGE);

    assertThat(run(a, "x"))
        .isInstanceOfSatisfying(
            RunResult.AttemptFailed.class,
            failed -> assertThat(failed.cause()).isInstanceOf(IllegalArgumentException.class));

    assertThat(run(b, "y")).isInstanceOf(RunResult.NotDue.class);
  }

  @Test
  void workWhoseEndMayNotBeRecorded_isToldSo_andDoneAgainAfterItsLease() throws Exception {
    faulty.next(Op.COMPLETE, Fault.DENIED);

    assertThatThrownBy(() -> run(a, "x")).isInstanceOf(StoreRefusedException.class);

    assertThat(run(b, "y")).isInstanceOf(RunResult.Busy.class);
    time.advance(LEASE.plus(MAX_SKEW).plus(tick()));
    assertThat(run(b, "y")).isEqualTo(new RunResult.Ran("y"));
    assertThat(runs).hasValue(2);
  }
}
