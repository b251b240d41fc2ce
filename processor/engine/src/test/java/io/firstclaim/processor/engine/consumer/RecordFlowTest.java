package io.firstclaim.processor.engine.consumer;

import static io.firstclaim.processor.engine.claim.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore.Fault;
import io.firstclaim.lock.testkit.fault.FaultyStore.Hold;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import io.firstclaim.processor.engine.api.EngineListener.Claimed;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.claim.Affinity;
import io.firstclaim.processor.engine.claim.ClaimId;
import io.firstclaim.processor.engine.claim.LogLines;
import io.firstclaim.processor.engine.claim.Signal;
import io.firstclaim.processor.engine.claim.TestTime;
import io.firstclaim.processor.engine.consumer.TestInstance.Sent;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Records from arrival to their end, in two zones over one lock store in memory. A lease is 30 s
 * unless a test says otherwise: longer than any test may take, so none passes by waiting for it.
 */
@Timeout(60)
class RecordFlowTest {
  private static final Duration SHORT_LEASE = Duration.ofMillis(1500);

  private final TestTime time = TestTime.running();
  private final TestBroker broker = new TestBroker();
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final TestSettings settings = new TestSettings();
  private final List<TestInstance> instances = new ArrayList<>();
  private final List<RecordContext> calls = new CopyOnWriteArrayList<>();
  private final CountDownLatch mayEnd = new CountDownLatch(1);

  @AfterEach
  void close() {
    mayEnd.countDown();
    instances.forEach(TestInstance::close);
  }

  private TestInstance start(String zone, RecordHandler handler) throws InterruptedException {
    TestInstance instance =
        new TestInstance(
            zone,
            settings,
            context -> {
              calls.add(context);
              return handler.handle(context);
            },
            claims,
            broker,
            time);
    instances.add(instance);
    return instance;
  }

  private static HandlerResult done(RecordContext context) {
    return HandlerResult.done();
  }

  /** Is done when the test lets it, or interrupted. */
  private HandlerResult doneWhenItMay(RecordContext context) throws InterruptedException {
    mayEnd.await();
    return HandlerResult.done();
  }

  /** Whatever interrupts it. */
  private void awaitThatItMayEnd() {
    while (mayEnd.getCount() > 0) {
      try {
        mayEnd.await();
      } catch (InterruptedException e) {
        // that is the point
      }
    }
  }

  private static RecordHandler failing(int times) {
    return context ->
        context.attempt() <= times ? HandlerResult.retry("no luck yet") : HandlerResult.done();
  }

  private Optional<ClaimRecord> stored(String id) {
    return instances.getFirst().store.find(RecordId.of(id));
  }

  private ClaimState stateOf(String id) {
    return stored(id).orElseThrow().state();
  }

  // --- Two zones, one record ---

  @Test
  void firstToClaim_processes_andTheOthersDeliveryIsADuplicate() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    TestInstance b = start("b", RecordFlowTest::done);

    Sent first = a.deliver("order-1", "{}");
    eventually(first::isSettled);
    Sent second = b.deliver("order-1", "{}");
    eventually(second::isSettled);

    assertThat(calls).hasSize(1);
    assertThat(a.listener.delivered()).containsExactly(Delivered.COMPLETED);
    assertThat(b.listener.delivered()).containsExactly(Delivered.DUPLICATE);
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Done.class);
    assertThat(broker.published())
        .singleElement()
        .satisfies(
            outcome -> {
              assertThat(outcome.kind()).isEqualTo(Outcome.Kind.COMPLETED);
              assertThat(outcome.id()).isEqualTo("order-1");
              assertThat(outcome.zone()).isEqualTo("a");
              assertThat(outcome.instance()).isEqualTo("1");
              assertThat(outcome.token()).isEqualTo(1);
              assertThat(outcome.attempt()).isEqualTo(1);
            });
  }

  @Test
  void outcomeThatIsNotToBeTrusted_skipsNothing_beforeTheStoreHasSaidSo()
      throws InterruptedException {
    settings.trust = EngineSettings.Trust.VERIFY;
    TestInstance a = start("a", RecordFlowTest::done);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent first = a.deliver("order-1", "{}");
    eventually(first::isSettled);
    eventually(() -> b.knows("order-1", "{}"));

    Sent second = b.deliver("order-1", "{}");
    eventually(second::isSettled);

    assertThat(b.listener.claimed()).containsExactly(Claimed.DONE);
    assertThat(b.listener.delivered()).containsExactly(Delivered.DUPLICATE);

    b.known.add(RecordId.of("order-2"), Fingerprint.of("{}".getBytes(UTF_8)), 1, time.now().wall());
    Sent forged = b.deliver("order-2", "{}");
    eventually(forged::isSettled);

    assertThat(b.listener.delivered()).containsExactly(Delivered.DUPLICATE, Delivered.COMPLETED);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(1);
  }

  @Test
  void recordHeldByTheOther_isLookedAtAgain_whenItsEndIsHeardThatIsNotToBeTrusted()
      throws InterruptedException {
    settings.trust = EngineSettings.Trust.VERIFY;
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent first = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    Sent second = b.deliver("order-1", "{}");
    eventually(() -> b.places.parked() == 1 && b.listener.claimed().size() == 1);

    mayEnd.countDown();
    eventually(() -> first.isSettled() && second.isSettled());

    assertThat(b.listener.claimed()).containsExactly(Claimed.HELD, Claimed.DONE);
    assertThat(calls).hasSize(1);
  }

  @Test
  void manyRecordsRacedForByTwoZones_areProcessedOnceEach() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    TestInstance b = start("b", RecordFlowTest::done);
    List<Sent> all = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      for (int copy = 0; copy < 2; copy++) {
        all.add(a.deliver("order-" + i, "{}"));
        all.add(b.deliver("order-" + i, "{}"));
      }
    }

    eventually(() -> all.stream().allMatch(Sent::isSettled));

    assertThat(calls.stream().map(call -> call.id().text()).distinct()).hasSize(500);
    assertThat(calls).hasSize(500);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(500);
    eventually(() -> a.places.isEmpty() && b.places.isEmpty());
    assertThat(a.places.inFlight() + b.places.inFlight()).isZero();
  }

  @Test
  void recordHeldByTheOther_isParked_andWokenByTheAnnouncement_withoutAnotherRequest()
      throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent first = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    Sent second = b.deliver("order-1", "{}");
    eventually(() -> b.listener.claimed().equals(List.of(Claimed.HELD)));
    eventually(() -> b.places.inFlight() == 0);
    assertThat(b.places.parked()).isOne();
    assertThat(second.isSettled()).as("what another holds is not committed").isFalse();

    mayEnd.countDown();

    eventually(() -> first.isSettled() && second.isSettled());
    assertThat(b.store.calls()).isOne();
    assertThat(calls).hasSize(1);
  }

  @Test
  void recordKnownToBeDone_costsNoRequest() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent _ = a.deliver("order-1", "{}");
    eventually(() -> b.knows("order-1", "{}"));

    Sent second = b.deliver("order-1", "{}");
    Sent again = a.deliver("order-1", "{}");

    eventually(() -> second.isSettled() && again.isSettled());
    assertThat(b.store.calls()).isZero();
    assertThat(a.store.calls(Op.CLAIM)).isOne();
  }

  @Test
  void recordThatIsDoneWhileItWaitsForItsPlace_costsNoRequest() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    settings.maxInFlight = 1;
    TestInstance b = start("b", this::doneWhenItMay);
    Sent first = b.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    Sent second = b.deliver("order-2", "{}");
    eventually(() -> second.waitsForAPlace() && b.places.parked() == 1);
    Sent _ = a.deliver("order-2", "{}");
    eventually(() -> b.knows("order-2", "{}"));

    mayEnd.countDown();

    eventually(() -> first.isSettled() && second.isSettled());
    assertThat(b.store.calls(Op.CLAIM)).isOne();
  }

  @Test
  void sameIdDeliveredFiveTimesAtOnce_isClaimedOnce() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    List<Sent> five = IntStream.range(0, 5).mapToObj(_ -> a.deliver("order-1", "{}")).toList();
    eventually(() -> calls.size() == 1);

    mayEnd.countDown();

    eventually(() -> five.stream().allMatch(Sent::isSettled));
    assertThat(a.store.calls(Op.CLAIM)).isOne();
    assertThat(calls).hasSize(1);
  }

  @Test
  void follower_goesOn_whenItsLeaderLosesThePartition() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent held = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    Sent leader = b.deliver("order-1", "{}");
    eventually(() -> b.listener.claimed().size() == 1);
    Sent follower = b.deliver("order-1", "{}");

    leader.revoke();

    eventually(leader::hasEnded);
    eventually(() -> b.listener.claimed().size() == 2);
    assertThat(leader.isSettled()).isFalse();
    mayEnd.countDown();
    eventually(() -> held.isSettled() && follower.isSettled());
  }

  @Test
  void withoutOutcomes_theStoreIsAskedAtGrowingIntervals() throws InterruptedException {
    settings.outcomes = false;
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent _ = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    Sent second = b.deliver("order-1", "{}");
    eventually(() -> b.store.calls(Op.CLAIM) == 4);
    List<Long> ticks = b.store.claims().stream().map(claim -> claim.start().ticks()).toList();
    long[] pauses = new long[3];
    for (int i = 0; i < 3; i++) {
      pauses[i] = Duration.ofNanos(ticks.get(i + 1) - ticks.get(i)).toMillis();
    }
    assertThat(pauses[0]).isGreaterThanOrEqualTo(100);
    assertThat(pauses[1]).isGreaterThanOrEqualTo(200);
    assertThat(pauses[2]).isGreaterThanOrEqualTo(400);

    mayEnd.countDown();

    eventually(second::isSettled);
    assertThat(calls).hasSize(1);
  }

  @Test
  void leaseThatIsOver_isTakenOver_withAHigherToken() throws InterruptedException {
    settings.lease = SHORT_LEASE;
    settings.maxAttempts = 5; // so that one death raises no suspicion
    TestInstance b = start("b", RecordFlowTest::done);
    MemoryClaimStore dead = TestInstance.anothers(claims, SHORT_LEASE, time);
    assertThat(dead.claim(TestInstance.claim("order-1", "{}", time)))
        .isInstanceOf(ClaimResult.Granted.class);

    Sent sent = b.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(b.listener.takeovers).hasValue(1);
    assertThat(calls).singleElement().matches(call -> call.token() == 2 && call.attempt() == 2);
    assertThat(broker.outcomes(Outcome.Kind.TAKEN_OVER))
        .singleElement()
        .satisfies(outcome -> assertThat(outcome.cause()).contains("a/9"));
  }

  // --- Interrupts from outside ---

  @Test
  void waitingRecordThatIsInterruptedFromOutside_goesOnWaiting() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent atA = a.deliver("order-1", "{}");
    eventually(() -> a.places.inFlight() == 1 && a.store.calls(Op.CLAIM) == 1);
    Sent atB = b.deliver("order-1", "{}");
    eventually(() -> b.store.calls(Op.CLAIM) == 1 && b.places.inFlight() == 0);

    atB.interrupt();
    mayEnd.countDown();

    eventually(() -> atA.isSettled() && atB.isSettled());
    eventually(atB::hasEnded);
  }

  @Test
  void settlementThatIsInterruptedFromOutside_isMadeAllTheSame() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    a.store.next(Op.COMPLETE, Fault.LOST_ANSWER);
    Hold hold = a.store.hold(Op.COMPLETE);
    Sent sent = a.deliver("order-1", "{}");
    eventually(() -> hold.arrived() == 1);

    sent.interrupt();
    hold.release();

    eventually(sent::isSettled);
    assertThat(calls).hasSize(1);
    assertThat(a.store.calls(Op.CLAIM)).isEqualTo(1);
  }

  // --- Head start ---

  @Test
  void recordPreferredByALivingZone_isLeftToIt_fromItsArrivalOn() throws InterruptedException {
    settings.zones = List.of("a", "b");
    settings.headStart = Duration.ofHours(1);
    settings.lease = Duration.ofDays(1);
    TestInstance a = start("a", RecordFlowTest::done);
    TestInstance b = start("b", RecordFlowTest::done);
    List<Sent> atB = IntStream.range(0, 20).mapToObj(i -> b.deliver("order-" + i, "{}")).toList();
    long own = IntStream.range(0, 20).filter(i -> isPreferredBy("b", "order-" + i)).count();
    assertThat(own).isBetween(1L, 19L);
    eventually(() -> atB.stream().filter(Sent::isSettled).count() == own);

    List<Sent> atA = IntStream.range(0, 20).mapToObj(i -> a.deliver("order-" + i, "{}")).toList();

    eventually(() -> Stream.concat(atA.stream(), atB.stream()).allMatch(Sent::isSettled));
    assertThat(calls).hasSize(20);
    assertThat(calls.stream().map(RecordContext::zone)).contains("a", "b");
    assertThat(a.store.calls(Op.CLAIM) + b.store.calls(Op.CLAIM)).isEqualTo(20);
  }

  @Test
  void recordThatWaitedForItsTurn_hasGivenItsHeadStartAlready() throws InterruptedException {
    settings.zones = List.of("a", "b");
    settings.headStart = Duration.ofHours(1);
    settings.lease = Duration.ofDays(1);
    TestInstance b = start("b", RecordFlowTest::done);
    var arrival = time.now();
    time.advance(Duration.ofHours(1));

    List<Sent> all =
        IntStream.range(0, 20)
            .mapToObj(i -> b.deliver(TestInstance.record("order-" + i, "{}"), arrival))
            .toList();

    eventually(() -> all.stream().allMatch(Sent::isSettled));
  }

  @Test
  void recordPreferredByALivingZone_isLeftToItForLonger_whileAllHandsAreFull()
      throws InterruptedException {
    settings.zones = List.of("a", "b");
    settings.headStart = Duration.ofMillis(1);
    settings.maxInFlight = 1;
    CountDownLatch busy = new CountDownLatch(1);
    TestInstance a = start("a", RecordFlowTest::done);
    TestInstance b =
        start(
            "b",
            context -> {
              busy.await();
              return done(context);
            });
    Sent own = b.deliver(preferredBy("b"), "{}");
    eventually(() -> b.places.isFull(own.partition));
    Sent foreign = b.deliver(preferredBy("a"), "{}");

    Sent atA = a.deliver(preferredBy("a"), "{}");

    eventually(() -> atA.isSettled() && foreign.isSettled());
    assertThat(own.isSettled()).isFalse();
    assertThat(b.store.calls(Op.CLAIM)).isEqualTo(1);
    busy.countDown();
    eventually(own::isSettled);
  }

  @Test
  void recordThatItsZoneHasReleased_isTakenAtOnce_evenIfAllHandsAreFull()
      throws InterruptedException {
    settings.zones = List.of("a", "b");
    settings.headStart = Duration.ofHours(1);
    settings.lease = Duration.ofDays(1);
    settings.maxInFlight = 1;
    CountDownLatch busy = new CountDownLatch(1);
    TestInstance a =
        start(
            "a",
            _ -> {
              new CountDownLatch(1).await();
              return HandlerResult.done();
            });
    TestInstance b =
        start(
            "b",
            context -> {
              busy.await();
              return done(context);
            });
    Sent own = b.deliver(preferredBy("b"), "{}");
    eventually(() -> b.places.isFull(own.partition));
    Sent foreign = b.deliver(preferredBy("a"), "{}");
    Sent atA = a.deliver(preferredBy("a"), "{}");
    eventually(() -> a.store.calls(Op.CLAIM) == 1 && b.places.parked() == 1);

    a.stop();
    eventually(atA::hasEnded);
    eventually(foreign::waitsForAPlace);
    busy.countDown();

    eventually(() -> own.isSettled() && foreign.isSettled());
  }

  private String preferredBy(String zone) {
    return IntStream.range(0, 1000)
        .mapToObj(i -> "order-" + i)
        .filter(id -> isPreferredBy(zone, id))
        .findFirst()
        .orElseThrow();
  }

  private boolean isPreferredBy(String zone, String id) {
    Affinity affinity =
        new Affinity(
            zone,
            List.of("a", "b"),
            Optional.of(Duration.ofHours(1)),
            Duration.ofDays(1),
            _ -> null,
            time);
    return affinity.headStartOfOthers(id.getBytes(UTF_8)).isZero();
  }

  // --- Failures ---

  @Test
  void failedAttempt_isAnnounced_andFollowedByAnother() throws InterruptedException {
    TestInstance a = start("a", failing(1));

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(a.listener.delivered()).containsExactly(Delivered.FAILED, Delivered.COMPLETED);
    assertThat(broker.published())
        .extracting(Outcome::kind, Outcome::attempt, Outcome::token, Outcome::cause)
        .containsExactly(
            tuple(Outcome.Kind.FAILED, 1, 1L, "no luck yet"),
            tuple(Outcome.Kind.COMPLETED, 2, 2L, null));
    Outcome failed = broker.published().getFirst();
    assertThat(failed.retryAt()).isBetween(failed.at(), failed.at().plusMillis(20));
  }

  @Test
  void nextAttempt_isNotMadeBeforeItIsDue_inWhicheverZone() throws InterruptedException {
    settings.backoff = Duration.ofMillis(300);
    TestInstance a = start("a", failing(1));
    TestInstance b = start("b", failing(1));
    Sent first = a.deliver("order-1", "{}");
    Sent second = b.deliver("order-1", "{}");

    eventually(() -> first.isSettled() && second.isSettled());

    assertThat(calls).hasSize(2);
    Instant retryAt = broker.outcomes(Outcome.Kind.FAILED).getFirst().retryAt();
    Outcome completed = broker.outcomes(Outcome.Kind.COMPLETED).getFirst();
    assertThat(completed.at()).isAfterOrEqualTo(retryAt);
  }

  @Test
  void lastAttempt_becomesADeadLetter_beforeTheRecordIsDead() throws InterruptedException {
    TestInstance a = start("a", failing(1000));
    Hold hold = a.store.hold(Op.BURY);

    Sent sent = a.deliver("order-1", "{\"n\":1}");

    eventually(() -> hold.arrived() == 1);
    assertThat(broker.deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.value()).asString().isEqualTo("{\"n\":1}");
              assertThat(TestBroker.header(letter, "firstclaim-attempts")).isEqualTo("3");
              assertThat(TestBroker.header(letter, "firstclaim-cause")).isEqualTo("no luck yet");
            });
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Held.class);
    assertThat(sent.isSettled()).isFalse();
    hold.release();
    eventually(sent::isSettled);
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Dead.class);
    assertThat(calls).hasSize(3);
    assertThat(a.listener.delivered())
        .containsExactly(Delivered.FAILED, Delivered.FAILED, Delivered.DEAD);
    assertThat(broker.outcomes(Outcome.Kind.DEAD)).hasSize(1);
  }

  @Test
  void deadLetterThatIsNotAcknowledged_leavesTheRecordOpen_andItsVerdictStands()
      throws InterruptedException {
    broker.refuse(TestBroker.DEAD_LETTERS);
    TestInstance a = start("a", failing(1000));

    Sent sent = a.deliver("order-1", "{}");

    eventually(() -> broker.outcomes(Outcome.Kind.FAILED).size() >= 6);
    assertThat(sent.isSettled()).isFalse();
    assertThat(stateOf("order-1")).isNotInstanceOf(ClaimState.Dead.class);
    assertThat(broker.outcomes(Outcome.Kind.FAILED).getLast().cause())
        .contains("in.dlt")
        .contains("not acknowledged");

    broker.accept(TestBroker.DEAD_LETTERS);

    eventually(sent::isSettled);
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Dead.class);
    assertThat(calls).hasSize(3);
    assertThat(broker.deadLetters())
        .singleElement()
        .satisfies(
            letter ->
                assertThat(TestBroker.header(letter, "firstclaim-cause")).isEqualTo("no luck yet"));
  }

  @Test
  void permanentFailure_isADeadLetter_atTheFirstAttempt() throws InterruptedException {
    TestInstance a = start("a", _ -> new HandlerResult.Failed("no such customer"));

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(calls).hasSize(1);
    assertThat(broker.deadLetters()).hasSize(1);
    assertThat(broker.published())
        .singleElement()
        .matches(
            outcome ->
                outcome.kind() == Outcome.Kind.DEAD
                    && "no such customer".equals(outcome.cause())
                    && outcome.attempt() == 1);
  }

  @Test
  void whateverAHandlerThrows_orNull_isAFailedAttempt() throws InterruptedException {
    settings.maxAttempts = 6;
    TestInstance a =
        start(
            "a",
            context ->
                switch (context.attempt()) {
                  case 1 -> throw new IllegalStateException("line 1\r\nline 2");
                  case 2 -> throw new NoClassDefFoundError("com/acme/Missing");
                  case 3 -> throw new OutOfMemoryError("for a moment");
                  case 4 -> throw new AssertionError();
                  case 5 -> nothing();
                  default -> HandlerResult.done();
                });

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(broker.outcomes(Outcome.Kind.FAILED))
        .extracting(Outcome::cause)
        .containsExactly(
            "java.lang.IllegalStateException: line 1 line 2",
            "java.lang.NoClassDefFoundError: com/acme/Missing",
            "java.lang.OutOfMemoryError: for a moment",
            "java.lang.AssertionError",
            "the handler returned null");
  }

  @SuppressWarnings("NullAway") // what a handler written without NullAway may return
  private static HandlerResult nothing() {
    return null;
  }

  @Test
  void hostileCause_isMadeFitToBePublished() throws InterruptedException {
    settings.maxAttempts = 2;
    TestInstance a = start("a", _ -> HandlerResult.retry("\ud800 half" + "x".repeat(1_000_000)));

    Sent dead = a.deliver("order-1", "1");

    eventually(dead::isSettled);
    assertThat(broker.published())
        .extracting(Outcome::kind)
        .containsExactlyInAnyOrder(Outcome.Kind.FAILED, Outcome.Kind.DEAD);
    assertThat(broker.outcomes(Outcome.Kind.DEAD).getFirst().cause())
        .startsWith("\\u{d800} half")
        .hasSize(1008);
  }

  @Test
  void absurdWaitsThatAHandlerAsksFor_areBounded() throws InterruptedException {
    TestInstance a =
        start(
            "a",
            context ->
                new HandlerResult.Retry(
                    "some time",
                    Optional.of(
                        Duration.ofSeconds(
                            context.attempt() == 1 ? Long.MIN_VALUE : Long.MAX_VALUE))));

    Sent _ = a.deliver("order-1", "{}");

    eventually(() -> broker.outcomes(Outcome.Kind.FAILED).size() == 2);
    assertThat(broker.published())
        .allSatisfy(
            outcome ->
                assertThat(outcome.retryAt())
                    .isBeforeOrEqualTo(outcome.at().plus(Duration.ofDays(1))));
  }

  @Test
  void waitThatAHandlerAsksFor_isKept_ifItIsLongerThanTheBackoff() throws InterruptedException {
    TestInstance a =
        start("a", _ -> new HandlerResult.Retry("busy", Optional.of(Duration.ofHours(1))));

    Sent _ = a.deliver("order-1", "{}");

    eventually(() -> broker.published().size() == 1);
    Outcome failed = broker.published().getFirst();
    assertThat(failed.retryAt())
        .isBetween(failed.at().plus(Duration.ofMinutes(59)), failed.at().plus(Duration.ofHours(1)));
  }

  @Test
  void handlerThatHangs_isInterruptedWhenItsTimeIsUp_andTheAttemptHasFailed()
      throws InterruptedException {
    settings.handlerTimeout = Duration.ofMillis(100);
    TestInstance a =
        start("a", context -> context.attempt() == 1 ? doneWhenItMay(context) : done(context));

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(broker.outcomes(Outcome.Kind.FAILED))
        .singleElement()
        .satisfies(
            outcome ->
                assertThat(outcome.cause()).isEqualTo("the handler took longer than PT0.1S"));
    assertThat(a.listener.delivered()).containsExactly(Delivered.FAILED, Delivered.COMPLETED);
  }

  @Test
  void handlerThatHangsAtItsLastAttempt_endsAsADeadLetter() throws InterruptedException {
    settings.handlerTimeout = Duration.ofMillis(50);
    settings.maxAttempts = 2;
    TestInstance a = start("a", this::doneWhenItMay);

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Dead.class);
    assertThat(broker.deadLetters())
        .singleElement()
        .satisfies(
            letter ->
                assertThat(TestBroker.header(letter, "firstclaim-cause"))
                    .isEqualTo("the handler took longer than PT0.05S"));
  }

  @Test
  void handlerThatHeedsNoInterrupt_isLeftAlone_andTheRecordStillEndsDead()
      throws InterruptedException {
    settings.lease = SHORT_LEASE;
    settings.handlerTimeout = Duration.ofMillis(50);
    settings.maxAttempts = 2;
    TestInstance a =
        start(
            "a",
            _ -> {
              awaitThatItMayEnd();
              return HandlerResult.done();
            });
    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);

    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Dead.class);
    assertThat(calls).hasSize(2);
    assertThat(broker.deadLetters())
        .singleElement()
        .satisfies(
            letter ->
                assertThat(TestBroker.header(letter, "firstclaim-cause"))
                    .isEqualTo("2 attempts ended without a verdict"));
    eventually(sent::hasEnded);
    assertThat(a.places.inFlight()).isEqualTo(2); // the threads that are still in the handler

    mayEnd.countDown();
    eventually(() -> a.places.isEmpty() && a.places.inFlight() == 0);
    assertThat(a.store.calls(Op.COMPLETE)).isZero();
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).isEmpty();
  }

  // --- Leases ---

  @Test
  void longHandler_keepsItsLease() throws InterruptedException {
    settings.lease = SHORT_LEASE;
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent first = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    Sent second = b.deliver("order-1", "{}");
    eventually(() -> a.store.calls(Op.RENEW) >= 5);

    mayEnd.countDown();

    eventually(() -> first.isSettled() && second.isSettled());
    assertThat(calls).hasSize(1);
    assertThat(broker.published()).singleElement().matches(outcome -> outcome.attempt() == 1);
  }

  @Test
  void leaseLostWhileTheHandlerRuns_recordsNothing() throws InterruptedException {
    settings.maxAttempts = 5;
    AtomicReference<Throwable> refused = new AtomicReference<>();
    TestInstance a =
        start(
            "a",
            context -> {
              awaitThatItMayEnd();
              try {
                context.ensureHeld();
              } catch (LeaseLostException e) {
                refused.set(e);
              }
              return HandlerResult.done();
            });
    TestInstance b = start("b", RecordFlowTest::done);
    Hold hold = a.store.hold(Op.RENEW);
    Sent first = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    time.advance(Duration.ofSeconds(31)); // as if the process had been stopped
    Sent second = b.deliver("order-1", "{}");
    eventually(second::isSettled);
    hold.release();

    mayEnd.countDown();

    eventually(first::isSettled);
    assertThat(refused.get()).hasMessageContaining("token 1");
    assertThat(a.listener.delivered()).containsExactly(Delivered.LOST, Delivered.DUPLICATE);
    assertThat(stored("order-1"))
        .hasValueSatisfying(
            claim -> {
              assertThat(claim.token()).isEqualTo(2);
              assertThat(claim.state())
                  .isInstanceOfSatisfying(
                      ClaimState.Done.class, done -> assertThat(done.by()).isEqualTo("b/1"));
            });
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED))
        .singleElement()
        .matches(outcome -> outcome.zone().equals("b"));
    assertThat(broker.outcomes(Outcome.Kind.LEASE_LOST))
        .singleElement()
        .matches(outcome -> outcome.zone().equals("a") && outcome.token() == 1);
  }

  @Test
  void stop_interruptsHandlers_andTheOtherZoneGoesOnAtOnce() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent first = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    Sent second = b.deliver("order-1", "{}");
    eventually(() -> b.listener.claimed().equals(List.of(Claimed.HELD)));

    a.stop();

    eventually(second::isSettled);
    eventually(first::hasEnded);
    assertThat(first.isSettled()).isFalse();
    assertThat(calls).hasSize(2);
    assertThat(broker.outcomes(Outcome.Kind.FAILED))
        .singleElement()
        .satisfies(
            outcome -> {
              assertThat(outcome.cause()).isEqualTo("stopped with the service");
              assertThat(outcome.retryAt()).isBeforeOrEqualTo(outcome.at());
            });
  }

  @Test
  void attemptCutShortByTheStop_doesNotCount() throws InterruptedException {
    settings.maxAttempts = 1;
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent first = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    Sent second = b.deliver("order-1", "{}");
    eventually(() -> b.listener.claimed().equals(List.of(Claimed.HELD)));

    a.stop();

    eventually(() -> second.isSettled() && first.hasEnded());
    assertThat(calls).extracting(RecordContext::attempt).containsExactly(1, 1);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED))
        .singleElement()
        .matches(outcome -> outcome.zone().equals("b"));
  }

  // --- The store ---

  @Test
  void claimWhoseAnswerWasLost_isSentAgainAsItWas_andRecognised() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    a.store.next(Op.CLAIM, Fault.LOST_ANSWER);

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(a.store.claims()).hasSize(2);
    assertThat(a.store.claims().stream().distinct()).hasSize(1);
    assertThat(calls).singleElement().matches(call -> call.token() == 1 && call.attempt() == 1);
    assertThat(a.listener.claimed()).containsExactly(Claimed.UNAVAILABLE, Claimed.GRANTED);
  }

  @Test
  void recordWhosePlaceHoldsNoClaim_isTriedAgain_andHoldsUpNoOther() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    a.store.unreadable().add(RecordId.of("order-1"));
    Sent concerned = a.deliver("order-1", "{}");
    eventually(() -> a.listener.claimed().size() >= 2);

    Sent other = a.deliver("order-2", "{}");

    eventually(other::isSettled);
    assertThat(concerned.isSettled()).isFalse();
    assertThat(a.listener.claimed()).containsOnly(Claimed.UNREADABLE, Claimed.GRANTED);
    assertThat(a.store.calls(Op.FIND)).as("questions whether the store answers").isZero();
    a.store.unreadable().clear();
    eventually(concerned::isSettled);
  }

  @Test
  void attemptWhoseEndMeetsWhatIsNoClaim_losesItsLease_onceAndLoudly_andHoldsUpNoOther()
      throws InterruptedException {
    settings.maxAttempts = 10; // or what is taken over is a suspect
    TestInstance a = start("a", this::doneWhenItMay);
    try (LogLines attempts = new LogLines(Attempt.class.getName());
        LogLines claims = new LogLines(Leader.class.getName())) {
      List<Sent> concerned = List.of(a.deliver("order-1", "{}"), a.deliver("order-2", "{}"));
      eventually(() -> calls.size() == 2);
      a.store.unreadable().add(RecordId.of("order-1"));
      a.store.unreadable().add(RecordId.of("order-2"));
      mayEnd.countDown();
      eventually(
          () -> a.listener.claimed().stream().filter(Claimed.UNREADABLE::equals).count() >= 4);

      Sent other = a.deliver("order-3", "{}");

      eventually(other::isSettled);
      assertThat(concerned).noneMatch(Sent::isSettled);
      assertThat(a.store.calls(Op.COMPLETE)).as("one of each").isEqualTo(3);
      assertThat(a.store.calls(Op.FIND)).as("questions whether the store answers").isZero();
      assertThat(broker.outcomes(Outcome.Kind.LEASE_LOST))
          .extracting(Outcome::cause)
          .containsExactlyInAnyOrder(
              "what is stored for order-1 is not a claim",
              "what is stored for order-2 is not a claim");
      assertThat(attempts.of("WARN"))
          .singleElement(STRING)
          .contains("was lost, nothing is recorded: what is stored for order-", "is not a claim");
      assertThat(claims.of("WARN")).singleElement(STRING).contains("cannot be claimed");
    }
    time.advance(Duration.ofMinutes(1));
    a.store.unreadable().clear();
    eventually(() -> stateOf("order-1") instanceof ClaimState.Done);
  }

  @Test
  void claimWithoutAnAnswerForAWholeLease_isFollowedByANewOne() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    a.store.setDown(true);
    Sent sent = a.deliver("order-1", "{}");
    eventually(() -> a.store.calls(Op.CLAIM) >= 1 && !a.gate.isOpen());
    time.advance(Duration.ofSeconds(30));

    a.store.setDown(false);

    eventually(sent::isSettled);
    assertThat(a.store.claims().stream().map(claim -> claim.nonce()).distinct()).hasSize(2);
  }

  @Test
  void whileTheStoreIsUnreachable_noHandlerStarts_andItIsAskedOneAtATime()
      throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    a.store.setDown(true);
    Sent first = a.deliver("order-0", "{}");
    eventually(() -> !a.gate.isOpen());

    List<Sent> more = IntStream.range(1, 200).mapToObj(i -> a.deliver("order-" + i, "{}")).toList();

    int asked = a.store.calls();
    eventually(() -> a.store.calls() >= asked + 2);
    assertThat(calls).isEmpty();
    assertThat(a.store.calls()).isLessThan(10);
    assertThat(first.isSettled() || more.stream().anyMatch(Sent::isSettled)).isFalse();

    a.store.setDown(false);

    eventually(() -> first.isSettled() && more.stream().allMatch(Sent::isSettled));
    assertThat(calls).hasSize(200);
    assertThat(a.store.calls(Op.CLAIM)).isLessThan(220);
  }

  /** A right that is withdrawn, whatever it is needed for. */
  @Test
  void storeThatPermitsNothing_isAnOutage_andEveryRecordGoesOnOnceItPermitsIt()
      throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    Sent begun = a.deliver("order-0", "{}");
    eventually(() -> calls.size() == 1);
    a.store.setDenies(true);
    mayEnd.countDown();
    eventually(() -> !a.gate.isOpen());
    assertThat(a.gate.fault()).isEqualTo("the role may not COMPLETE");
    Sent later = a.deliver("order-1", "{}");
    int tried = a.store.calls(Op.COMPLETE);
    eventually(() -> a.store.calls(Op.COMPLETE) >= tried + 2);
    assertThat(begun.isSettled() || later.isSettled()).isFalse();

    a.store.setDenies(false);
    eventually(() -> begun.isSettled() && later.isSettled());
    a.store.next(Op.CLAIM, Fault.DENIED);
    Sent deniedOnce = a.deliver("order-2", "{}");
    eventually(deniedOnce::isSettled);

    assertThat(calls).as("each once").hasSize(3);
    assertThat(a.store.calls(Op.CLAIM)).isEqualTo(4);
  }

  @Test
  void recordThatTheStoreRefusesAgainAndAgain_isTriedLessAndLessOften()
      throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    Fault no = Fault.LOST_REQUEST;
    a.store.next(Op.CLAIM, no, no, no, no);
    long start = System.nanoTime();

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isGreaterThanOrEqualTo(Duration.ofMillis(100 + 200 + 400));
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPLETE", "RELEASE", "BURY"})
  void outcome_isAnnouncedOnlyWhenTheStoreHasIt(Op end) throws InterruptedException {
    TestInstance a =
        start(
            "a",
            switch (end) {
              case COMPLETE -> RecordFlowTest::done;
              case BURY -> _ -> new HandlerResult.Failed("HTTP 422");
              default -> failing(1);
            });
    Hold hold = a.store.hold(end);

    Sent sent = a.deliver("order-1", "{}");

    eventually(() -> hold.arrived() == 1);
    assertThat(broker.published()).isEmpty();
    assertThat(sent.isSettled()).isFalse();
    hold.release();
    eventually(sent::isSettled);
    assertThat(broker.published()).isNotEmpty();
  }

  @Test
  void completionWithoutAnAnswer_isRepeatedUntilThereIsOne() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    a.store.next(Op.COMPLETE, Fault.LOST_ANSWER, Fault.LOST_REQUEST);

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(a.store.calls(Op.COMPLETE)).isEqualTo(3);
    assertThat(calls).hasSize(1);
    assertThat(a.listener.delivered()).containsExactly(Delivered.COMPLETED);
    assertThat(broker.published()).hasSize(1);
  }

  @Test
  void releaseAndBurialWithoutAnAnswer_areRepeatedUntilThereIsOne() throws InterruptedException {
    TestInstance a = start("a", failing(1000));
    a.store.next(Op.RELEASE, Fault.LOST_ANSWER);
    a.store.next(Op.BURY, Fault.LOST_ANSWER);

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(calls).hasSize(3);
    assertThat(broker.deadLetters()).hasSize(1);
    assertThat(a.listener.delivered())
        .containsExactly(Delivered.FAILED, Delivered.FAILED, Delivered.DEAD);
  }

  @Test
  void defectOfTheStore_holdsARecordUp_butNotForGood() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    a.store.next(Op.CLAIM, Fault.DEFECT, Fault.ERROR);

    Sent sent = a.deliver("order-1", "{}");

    for (int calls = 1; calls <= 2; calls++) {
      int expected = calls;
      eventually(() -> a.store.calls(Op.CLAIM) >= expected);
      eventually(
          () -> {
            a.tickets.signal(
                ClaimId.of(RecordId.of("order-1")), new Signal.Ended()); // need not wait
            return a.store.calls(Op.CLAIM) > expected;
          });
    }
    eventually(sent::isSettled);
  }

  // --- Revoked partitions ---

  @Test
  void recordOfARevokedPartition_isNotStarted_thoughItHasWaitedForItsPlace()
      throws InterruptedException {
    settings.maxInFlight = 1;
    TestInstance a = start("a", this::doneWhenItMay);
    Sent first = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    Sent second = a.deliver("order-2", "{}");
    Sent third = a.deliver("order-3", "{}");
    eventually(() -> second.waitsForAPlace() && third.waitsForAPlace());

    second.revoke();
    mayEnd.countDown();

    eventually(() -> first.isSettled() && third.isSettled() && second.hasEnded());
    assertThat(second.isSettled()).isFalse();
    assertThat(calls.stream().map(call -> call.id().text()))
        .containsExactlyInAnyOrder("order-1", "order-3");
    assertThat(stored("order-2")).isEmpty();
  }

  @Test
  void recordInItsHandlersHands_isFinished_thoughItsPartitionWasRevoked()
      throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    Sent sent = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);

    sent.revoke();
    mayEnd.countDown();

    eventually(sent::hasEnded);
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Done.class);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(1);
  }

  @Test
  void recordThatWaits_endsAtOnce_whenItsPartitionIsRevoked() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent _ = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    Sent parked = b.deliver("order-1", "{}");
    eventually(() -> b.listener.claimed().size() == 1);

    parked.revoke();

    eventually(() -> parked.hasEnded() && b.places.isEmpty());
    assertThat(parked.isSettled()).isFalse();
  }

  // --- Records that cannot be processed ---

  @Test
  void sameIdWithAnotherPayload_isADeadLetter_onceForEachPayload() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    TestInstance b = start("b", RecordFlowTest::done);
    Sent original = a.deliver("order-1", "1");
    eventually(original::isSettled);

    List<Sent> others = new ArrayList<>();
    for (int copy = 0; copy < 3; copy++) {
      for (TestInstance zone : List.of(a, b)) {
        others.add(zone.deliver("order-1", "22"));
        others.add(zone.deliver("order-1", "333"));
      }
    }

    eventually(() -> others.stream().allMatch(Sent::isSettled));
    assertThat(broker.deadLetters().stream().map(letter -> new String(letter.value(), UTF_8)))
        .containsExactlyInAnyOrder("22", "333");
    assertThat(broker.deadLetters())
        .allSatisfy(
            letter -> {
              assertThat(TestBroker.header(letter, "firstclaim-id")).isEqualTo("order-1");
              assertThat(TestBroker.header(letter, "firstclaim-cause")).contains("another payload");
            });
    assertThat(broker.outcomes(Outcome.Kind.MISMATCH))
        .hasSize(2)
        .allMatch(outcome -> outcome.id().equals("order-1"));
    assertThat(calls).hasSize(1);
    assertThat(Stream.of(a, b).flatMap(zone -> zone.listener.delivered().stream()))
        .containsOnlyOnce(Delivered.COMPLETED)
        .filteredOn(result -> result == Delivered.MISMATCH)
        .hasSize(2);
    assertThat(stored("order-1").orElseThrow().token()).isEqualTo(1);
  }

  @Test
  void anotherPayloadThatArrivesMeanwhile_neitherDisturbsNorLosesTheFirst()
      throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    Sent first = a.deliver("order-1", "1");
    eventually(() -> calls.size() == 1);
    Sent second = a.deliver("order-1", "22");

    mayEnd.countDown();

    eventually(() -> first.isSettled() && second.isSettled());
    assertThat(calls).hasSize(1);
    assertThat(broker.deadLetters()).hasSize(1);
  }

  @Test
  void mismatch_isSkipped_ifSoConfigured() throws InterruptedException {
    settings.onMismatch = EngineSettings.OnMismatch.SKIP;
    TestInstance a = start("a", RecordFlowTest::done);
    Sent original = a.deliver("order-1", "1");
    eventually(original::isSettled);

    Sent other = a.deliver("order-1", "22");

    eventually(other::isSettled);
    assertThat(broker.deadLetters()).isEmpty();
    assertThat(broker.outcomes(Outcome.Kind.MISMATCH)).hasSize(1);
    assertThat(a.listener.delivered()).containsExactly(Delivered.COMPLETED, Delivered.MISMATCH);
    assertThat(calls).hasSize(1);
  }

  @Test
  void recordWithoutAnId_isADeadLetter_onceOverBothZones() throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    TestInstance b = start("b", RecordFlowTest::done);

    List<Sent> both =
        Stream.of(a, b).map(zone -> zone.deliver(TestInstance.record(null, "{}", 3, 14))).toList();

    eventually(() -> both.stream().allMatch(sent -> sent.hasEnded() && sent.partition.lag() == 0));
    assertThat(calls).isEmpty();
    assertThat(broker.deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(TestBroker.header(letter, "firstclaim-cause")).contains("no ID");
              assertThat(TestBroker.header(letter, "firstclaim-offset")).isEqualTo("14");
            });
    assertThat(broker.outcomes(Outcome.Kind.DEAD)).hasSize(1);
    assertThat(a.listener.handled.get() + b.listener.handled.get()).isZero();
  }

  @Test
  void recordWithoutAnId_keepsItsCause_howeverLongTheDeadLetterTakes() throws InterruptedException {
    broker.refuse(TestBroker.DEAD_LETTERS);
    TestInstance a = start("a", RecordFlowTest::done);
    Sent sent = a.deliver(TestInstance.record(null, "{}"));
    eventually(() -> broker.outcomes(Outcome.Kind.FAILED).size() > settings.maxAttempts);

    broker.accept(TestBroker.DEAD_LETTERS);

    eventually(sent::isSettled);
    assertThat(TestBroker.header(broker.deadLetters().getFirst(), "firstclaim-cause"))
        .contains("no ID");
  }

  // --- Announcements ---

  @Test
  void endThatItsHolderNeverAnnounced_isAnnouncedByTheNextDeliverer_once()
      throws InterruptedException {
    settings.lease = SHORT_LEASE;
    TestInstance b = start("b", RecordFlowTest::done);
    TestInstance c = start("c", RecordFlowTest::done);
    endedSilently("order-1", time.now().wall());

    Sent atB = b.deliver("order-1", "{}");
    Sent again = b.deliver("order-1", "{}");
    eventually(() -> b.listener.claimed().equals(List.of(Claimed.DONE)));
    assertThat(atB.isSettled()).isFalse();
    eventually(() -> atB.isSettled() && again.isSettled());
    eventually(() -> c.knows("order-1", "{}"));
    Sent atC = c.deliver("order-1", "{}");
    eventually(atC::isSettled);

    assertThat(broker.published())
        .singleElement()
        .satisfies(
            outcome -> {
              assertThat(outcome.kind()).isEqualTo(Outcome.Kind.COMPLETED);
              assertThat(outcome.zone()).isEqualTo("a");
              assertThat(outcome.instance()).isEqualTo("9");
            });
    assertThat(calls).isEmpty();
    assertThat(b.store.calls(Op.CLAIM)).isOne();
    assertThat(c.store.calls()).isZero();
  }

  @Test
  void endInTheFuture_byTheClockOfItsHolder_isAnnouncedAfterALeaseAtTheLatest()
      throws InterruptedException {
    settings.lease = SHORT_LEASE;
    TestInstance b = start("b", RecordFlowTest::done);
    endedSilently("order-1", time.now().wall().plus(Duration.ofHours(1)));

    Sent sent = b.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(1);
  }

  @Test
  void endOfLongAgo_isNotAnnouncedAgain() throws InterruptedException {
    TestInstance b = start("b", RecordFlowTest::done);
    endedSilently("order-1", time.now().wall().minus(Duration.ofHours(1)));

    Sent sent = b.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(broker.published()).isEmpty();
  }

  /** Somebody completes a record, by a clock that shows this, and dies before saying so. */
  private void endedSilently(String id, Instant at) {
    MemoryClaimStore silent =
        TestInstance.anothers(claims, Duration.ofSeconds(30), () -> new Moment(at, 0));
    ClaimResult.Granted granted =
        (ClaimResult.Granted) silent.claim(TestInstance.claim(id, "{}", () -> new Moment(at, 0)));
    assertThat(silent.complete(granted.lease(), null)).isInstanceOf(SettleResult.Settled.class);
  }

  @Test
  void outcomeThatCannotBePublished_doesNotHoldTheRecordUp() throws InterruptedException {
    TestInstance a = start("a", failing(1));
    broker.refuse(TestBroker.OUTCOMES);

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Done.class);
  }

  @Test
  void outcomeThatCannotBePublished_asTheProducerIsClosed_doesNotHoldTheRecordUp()
      throws InterruptedException {
    TestInstance a = start("a", RecordFlowTest::done);
    a.outcomes.close();

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::isSettled);
  }
}
