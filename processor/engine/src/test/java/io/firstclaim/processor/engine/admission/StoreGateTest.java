package io.firstclaim.processor.engine.admission;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.testing.TestTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StoreGateTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration CALL = Duration.ofMillis(500);
  private static final SettleResult DONE = new SettleResult.Lost(null);
  private static final SettleResult UNKNOWN = new SettleResult.Unknown("timed out");

  private final TestTime time = TestTime.running();
  private final AtomicBoolean storeAnswers = new AtomicBoolean(true);
  private final AtomicInteger questions = new AtomicInteger();
  private final StoreGate gate = new StoreGate(this::ask, () -> 128, LEASE, time, CALL);
  private final Deque<Begun> claiming = new ArrayDeque<>();

  private void ask() {
    questions.incrementAndGet();
    if (!storeAnswers.get()) {
      throw new StoreUnavailableException("no answer", new IOException());
    }
  }

  @AfterEach
  void letTheGateOpen() {
    storeAnswers.set(true);
    claiming.forEach(Begun::close);
    eventually(gate::isOpen);
  }

  /** A record that is begun, until this is closed. */
  private record Begun(StoreGate.Request request) implements AutoCloseable {
    static Begun at(StoreGate gate) throws InterruptedException {
      StoreGate.Request request = gate.request(() -> true);
      assertThat(request.pass()).isNull();
      return new Begun(request);
    }

    void answered(boolean granted) {
      request.answered(granted);
    }

    void failed(String why) {
      request.failed(why);
    }

    @Override
    public void close() {
      request.leave();
    }
  }

  private Begun begin() throws InterruptedException {
    return Begun.at(gate);
  }

  /** Sends as many claims as may be sent, and says how many are under way then. */
  private int fill() throws InterruptedException {
    while (!gate.isFull()) {
      claiming.add(begin());
      assertThat(claiming).hasSizeLessThan(10_000);
    }
    return claiming.size();
  }

  /** One claim is refused for want of an answer. */
  private void fail() throws InterruptedException {
    try (Begun begun = begin()) {
      begun.failed("timed out");
    }
  }

  /** Grants so many claims at once, each after this time, and settles their records. */
  private void grant(Duration each, int count) throws InterruptedException {
    List<Begun> granted = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      granted.add(begin());
    }
    time.advance(each);
    granted.forEach(begun -> begun.answered(true));
    granted.forEach(Begun::close);
  }

  @Test
  void claims_areBounded_andALeftPlaceIsTakenAgain() throws InterruptedException {
    int most = fill();
    assertThat(most).isBetween(1, 4);

    claiming.remove().close();

    assertThat(fill()).isEqualTo(most);
  }

  /** Claims have half of it. */
  @Test
  void store_isSentNoMoreAtOnce_thanItMakesTheMostOf() throws InterruptedException {
    StoreGate narrow = new StoreGate(this::ask, () -> 2, LEASE, time, CALL);

    try (Begun _ = Begun.at(narrow)) {
      assertThat(narrow.isFull()).isTrue();
    }
    assertThat(narrow.isFull()).isFalse();
  }

  @Test
  void storeThatThrows_whenItIsAskedHowMuchItTakes_takesAsMuchAsBefore() throws Exception {
    AtomicBoolean fails = new AtomicBoolean();
    AtomicInteger faults = new AtomicInteger();
    StoreGate odd =
        new StoreGate(
            this::ask,
            () -> {
              if (!fails.get()) {
                return 2;
              } else if (faults.incrementAndGet() % 2 == 0) {
                throw new IllegalStateException("a defect");
              }
              throw new LinkageError("a defect");
            },
            LEASE,
            time,
            CALL);
    Begun first = Begun.at(odd);
    Thread waiting = running(() -> Begun.at(odd).close());
    eventually(() -> waiting.getState() == Thread.State.WAITING);
    fails.set(true);
    Thread leaving = running(first::close);

    assertThat(leaving.join(LONG)).isTrue();
    assertThat(waiting.join(LONG)).isTrue();
    try (Begun _ = Begun.at(odd)) {
      assertThat(odd.isFull()).isTrue();
    }
  }

  /** New threads are of the group of the one that starts them. */
  @Test
  void laneThatFails_beforeItsMenderHasSeenItOpen_hasNoSecondOne() throws Exception {
    ThreadGroup group = new ThreadGroup("of the test");
    AtomicInteger menders = new AtomicInteger();
    Thread those =
        new Thread(
            group,
            () -> {
              try (Begun first = begin();
                  Begun second = begin()) {
                first.failed("a");
                try (Begun trying = begin()) {
                  gate.locked(
                      () -> {
                        trying.answered(false);
                        second.failed("b");
                      });
                }
                menders.set(group.activeCount() - 1);
              } catch (InterruptedException e) {
                menders.set(-1);
              }
            });
    those.start();

    assertThat(those.join(LONG)).isTrue();
    assertThat(menders).hasValue(1);
  }

  @Test
  void steps_doNotWaitBehindClaims() throws InterruptedException {
    fill();

    assertThat(gate.step(() -> DONE)).isEqualTo(DONE);
  }

  /** Another zone may have done them all by the time that the store answers. */
  @Test
  void recordsThatNeedNotAskAnyMore_doNotHoldUpTheNextThatTries() throws InterruptedException {
    fail();
    AtomicInteger left = new AtomicInteger();
    for (int i = 0; i < 200; i++) {
      Thread _ =
          running(
              () -> {
                try (Begun _ = begin()) {
                  left.incrementAndGet();
                }
              });
    }

    eventually(gate::isOpen);
    eventually(() -> left.get() == 200);
    assertThat(questions).hasValue(1); // asked by nobody, so the gate asks itself
  }

  @Test
  void claims_waitBehindSteps() throws InterruptedException {
    CountDownLatch mayEnd = new CountDownLatch(1);
    List<Thread> steps = new ArrayList<>();
    AtomicInteger under = new AtomicInteger();
    for (int i = 0; i < 20; i++) {
      steps.add(
          running(
              () ->
                  gate.step(
                      () -> {
                        under.incrementAndGet();
                        await(mayEnd);
                        return DONE;
                      })));
    }
    eventually(() -> under.get() == Pace.LEAST);
    AtomicBoolean begun = new AtomicBoolean();
    Thread claim = running(() -> begun.set(gate.request(() -> true).pass() == null));
    eventually(() -> claim.getState() == Thread.State.WAITING);

    assertThat(gate.isFull()).isTrue();
    assertThat(begun).isFalse();

    mayEnd.countDown();
    assertThat(claim.join(LONG)).isTrue();
    assertThat(begun).isTrue();
    for (Thread step : steps) {
      assertThat(step.join(LONG)).isTrue();
    }
  }

  /** Between a step that ends and the next, which has been waiting, no claim slips in. */
  @Test
  void placeThatAStepLeaves_isTheNextSteps_fromTheVeryFirst() throws InterruptedException {
    Semaphore mayEnd = new Semaphore(0);
    AtomicInteger under = new AtomicInteger();
    List<Thread> steps = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      steps.add(
          running(
              () ->
                  gate.step(
                      () -> {
                        under.incrementAndGet();
                        mayEnd.acquireUninterruptibly();
                        return null;
                      })));
    }
    eventually(() -> under.get() == Pace.LEAST);
    eventually(() -> steps.stream().allMatch(step -> step.getState() == Thread.State.WAITING));

    for (int more = 1; more <= 20; more++) {
      mayEnd.release();
      while (under.get() < Pace.LEAST + more) {
        assertThat(gate.isFull()).isTrue();
      }
    }
    mayEnd.release(40);
    for (Thread step : steps) {
      assertThat(step.join(LONG)).isTrue();
    }
  }

  @Test
  void recordThatIsNotWanted_getsNoPlace_evenIfOneIsFree() throws InterruptedException {
    assertThat(gate.request(() -> false).pass()).isNotNull();
  }

  @Test
  void whoIsNotWantedAnyMore_waitsNoLonger() throws InterruptedException {
    fill();
    AtomicBoolean wanted = new AtomicBoolean(true);
    AtomicBoolean begun = new AtomicBoolean();
    Thread waiting = running(() -> begun.set(gate.request(wanted::get).pass() == null));
    eventually(() -> waiting.getState() == Thread.State.WAITING);

    wanted.set(false);
    gate.lookAgain();

    assertThat(waiting.join(LONG)).isTrue();
    assertThat(begun).isFalse();
  }

  // --- What is begun, and the lease ---

  @Test
  void noMoreIsBegun_thanCanBeSettledInAThirdOfTheLease() throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      grant(Duration.ofSeconds(8), 2);
    }
    // Now five at once or so, each for 8 s of the 10 that there are.
    while (!gate.isFull()) {
      Begun next = begin();
      time.advance(Duration.ofSeconds(8));
      next.answered(true);
      claiming.add(next);
      assertThat(claiming).as("records begun").hasSizeLessThan(10);
    }
    assertThat(claiming).hasSizeGreaterThan(3);

    claiming.remove().close();

    assertThat(gate.isFull()).isFalse();
  }

  @Test
  void storeTooSlowForTheLease_isAskedForOneRecordAtATime() throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      grant(Duration.ofSeconds(11), 1);
    }

    assertThat(fill()).isOne();
  }

  @Test
  void claimThatIsNotGranted_beginsNothing_thoughItsRecordIsNotDoneWith()
      throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      grant(Duration.ofSeconds(11), 1);
    }

    Begun held = begin();
    held.answered(false);
    claiming.add(held);

    assertThat(gate.isFull()).isFalse();
  }

  // --- Outages ---

  @Test
  void storeThatAnswersNoClaims_isSentOneAtATime_andStepsGoOn() throws InterruptedException {
    AtomicInteger sent = new AtomicInteger();
    AtomicInteger mostAtOnce = new AtomicInteger();
    AtomicInteger atOnce = new AtomicInteger();
    StoreGate patient = new StoreGate(this::ask, () -> 128, LEASE, time, LONG);
    try (Begun begun = Begun.at(patient)) {
      begun.failed("timed out");
    }
    storeAnswers.set(false);
    List<Thread> waiting = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      waiting.add(
          running(
              () -> {
                boolean granted = false;
                while (!granted) {
                  try (Begun begun = Begun.at(patient)) {
                    mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                    sent.incrementAndGet();
                    granted = storeAnswers.get();
                    atOnce.decrementAndGet();
                    if (granted) {
                      begun.answered(true);
                    } else {
                      begun.failed("refused");
                    }
                  }
                }
              }));
    }
    eventually(() -> sent.get() >= 3);

    assertThat(mostAtOnce).hasValue(1);
    assertThat(patient.fault()).isEqualTo("refused");
    assertThat(patient.step(() -> DONE)).isEqualTo(DONE);
    assertThat(patient.isOpen()).as("for claims").isFalse();
    assertThat(questions).as("as there are claims to try").hasValue(0);

    storeAnswers.set(true);
    for (Thread thread : waiting) {
      assertThat(thread.join(LONG)).isTrue();
    }
    eventually(patient::isOpen);
  }

  @Test
  void storeThatAnswersNoSteps_isSentNoClaims_andOneStepAtATime() throws InterruptedException {
    storeAnswers.set(false);
    AtomicInteger tries = new AtomicInteger();
    StoreGate patient = new StoreGate(this::ask, () -> 128, LEASE, time, LONG);
    Moment begin = time.now();
    Thread step =
        running(
            () -> {
              SettleResult answer = UNKNOWN;
              while (answer instanceof SettleResult.Unknown) {
                answer =
                    patient.step(
                        () -> {
                          tries.incrementAndGet();
                          return storeAnswers.get() ? DONE : UNKNOWN;
                        });
              }
            });
    eventually(() -> tries.get() >= 3);

    assertThat(patient.isFull()).isTrue();
    assertThat(patient.fault()).isEqualTo("timed out");
    assertThat(tries.get())
        .as("in the end one in two seconds")
        .isLessThan(6 + (int) time.now().since(begin).plusSeconds(1).toSeconds() / 2);

    storeAnswers.set(true);
    assertThat(step.join(LONG)).isTrue();
    eventually(patient::isOpen);
  }

  @Test
  void faultThatNobodyIsLeftToTry_endsWhenTheStoreAnswersAnything() throws InterruptedException {
    storeAnswers.set(false);
    fail();
    eventually(() -> questions.get() >= 2);
    assertThat(gate.fault()).isEqualTo("no answer");

    storeAnswers.set(true);

    eventually(gate::isOpen);
  }

  @Test
  void stepThatNeedNotAskTheStore_leavesTheTryToTheNext() throws InterruptedException {
    storeAnswers.set(false);
    assertThat(gate.step(() -> UNKNOWN)).isEqualTo(UNKNOWN);

    assertThat(gate.step(() -> null)).isNull();
    assertThat(gate.isOpen()).isFalse();
    assertThat(gate.step(() -> DONE)).isEqualTo(DONE);

    eventually(gate::isOpen);
  }

  @Test
  void stepThatThrows_givesItsPlaceBack() throws InterruptedException {
    for (int i = 0; i < 10; i++) {
      try {
        var _ =
            gate.step(
                () -> {
                  throw new IllegalStateException("a defect");
                });
      } catch (IllegalStateException e) {
        // as it was told to
      }
    }

    assertThat(gate.step(() -> DONE)).isEqualTo(DONE);
  }

  @Test
  void questionThatThrowsWhatItShouldNot_isRepeated() throws InterruptedException {
    AtomicInteger asked = new AtomicInteger();
    StoreGate odd =
        new StoreGate(
            () -> {
              switch (asked.incrementAndGet()) {
                case 1 -> throw new IllegalStateException("a defect");
                case 2 -> throw new OutOfMemoryError("for a moment");
                default -> {}
              }
            },
            () -> 128,
            LEASE,
            time,
            CALL);

    try (Begun begun = Begun.at(odd)) {
      begun.failed("timed out");
    }

    eventually(odd::isOpen);
    assertThat(asked).hasValue(3);
  }

  @Test
  void gateThatCannotEvenPause_isMendedAllTheSame() throws InterruptedException {
    AtomicInteger sleeps = new AtomicInteger();
    TimeSource odd =
        time.sleepingBy(
            _ -> {
              switch (sleeps.incrementAndGet()) {
                case 1 -> throw new LinkageError("for a moment");
                case 2 -> throw new IllegalStateException("a defect");
                default -> {} // then without a pause
              }
            });
    StoreGate shut = new StoreGate(this::ask, () -> 128, LEASE, odd, CALL);

    try (Begun begun = Begun.at(shut)) {
      begun.failed("timed out");
    }

    eventually(shut::isOpen);
  }

  @Test
  void claimsGoOn_howeverOftenTheStoreFailed() throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      fail();
      try (Begun begun = begin()) {
        begun.answered(true);
      }
      eventually(gate::isOpen);
    }

    assertThat(fill()).isPositive();
  }

  @Test
  void recordThatFailsAgainAndAgain_waitsLongerAndLonger_withinBounds() {
    assertThat(StoreGate.pauseAfter(1)).isZero();
    Duration least = StoreGate.pauseAfter(2);
    assertThat(least).isBetween(Duration.ofMillis(100), Duration.ofMillis(200));
    assertThat(StoreGate.pauseAfter(3)).isBetween(Duration.ofMillis(200), Duration.ofMillis(400));
    for (int failures : new int[] {10, 100, Integer.MAX_VALUE}) {
      assertThat(StoreGate.pauseAfter(failures))
          .isBetween(Duration.ofSeconds(2), Duration.ofSeconds(4));
    }
  }

  private interface Body {
    void run() throws InterruptedException;
  }

  private static Thread running(Body body) {
    return Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                body.run();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
