package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore.Fault;
import io.firstclaim.lock.testkit.fault.FaultyStore.Hold;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.api.EngineListener.Claimed;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.testing.TestRecords;
import io.firstclaim.processor.engine.testing.TestTime;
import io.firstclaim.processor.engine.trace.Trace;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

/** Records from arrival to their end, in two zones. */
class RecordFlowTest extends FlowFixture {
  // --- Two zones, one record ---

  @Test
  void firstToClaim_processes_andTheOthersDeliveryIsADuplicate() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    TestInstance b = start("b", FlowFixture::done);

    process(a, "order-1");
    process(b, "order-1");

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
    TestInstance a = start("a", FlowFixture::done);
    TestInstance b = start("b", FlowFixture::done);
    process(a, "order-1");
    eventually(() -> b.knows("order-1", "{}"));

    process(b, "order-1");

    assertThat(b.listener.claimed()).containsExactly(Claimed.DONE);
    assertThat(b.listener.delivered()).containsExactly(Delivered.DUPLICATE);

    b.known.add(RecordId.of("order-2"), Fingerprint.of("{}".getBytes(UTF_8)), 1, time.now().wall());
    process(b, "order-2");

    assertThat(b.listener.delivered()).containsExactly(Delivered.DUPLICATE, Delivered.COMPLETED);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(1);
  }

  @Test
  void recordHeldByTheOther_isLookedAtAgain_whenItsEndIsHeardThatIsNotToBeTrusted()
      throws InterruptedException {
    time = TestTime.standing(); // so that no feed counts as silent
    settings.trust = EngineSettings.Trust.VERIFY;
    Contested order = contested();

    mayEnd.countDown();
    eventually(() -> order.atA().isOver() && order.atB().isOver());

    assertThat(order.b().listener.claimed()).containsExactly(Claimed.HELD, Claimed.DONE);
    assertThat(calls).hasSize(1);
  }

  @Test
  void manyRecordsRacedForByTwoZones_areProcessedOnceEach() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    TestInstance b = start("b", FlowFixture::done);
    List<Sent> all = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      for (int copy = 0; copy < 2; copy++) {
        all.add(a.deliver("order-" + i, "{}"));
        all.add(b.deliver("order-" + i, "{}"));
      }
    }

    eventually(() -> all.stream().allMatch(Sent::isOver));

    assertThat(calls.stream().map(call -> call.id().text()).distinct()).hasSize(500);
    assertThat(calls).hasSize(500);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(500);
    eventually(() -> a.limit.isEmpty() && b.limit.isEmpty());
    assertThat(a.limit.inFlight() + b.limit.inFlight()).isZero();
  }

  @Test
  void recordHeldByTheOther_isParked_andWokenByTheAnnouncement_withoutAnotherRequest()
      throws InterruptedException {
    time = TestTime.standing(); // so that no feed counts as silent
    Contested order = contested();
    assertThat(order.b().limit.parked()).isOne();
    assertThat(order.atB().isSettled()).as("what another holds is not committed").isFalse();

    mayEnd.countDown();

    eventually(() -> order.atA().isOver() && order.atB().isOver());
    assertThat(order.b().store.calls()).isOne();
    assertThat(calls).hasSize(1);
  }

  /** As one does that claims over HTTP, for as long as it likes. */
  @Test
  void recordHeldForLongByOneThatAnnouncesNothing_isAskedForAgain_afterALeaseOfOurs()
      throws InterruptedException {
    MemoryClaimStore silent = TestInstance.anothers(claims, Duration.ofHours(1), time);
    var granted = (ClaimResult.Granted) silent.claim(TestInstance.claim("order-1", "{}", time));
    settings.lease = SHORT_LEASE;
    TestInstance b = start("b", FlowFixture::done);
    Sent order = b.deliver("order-1", "{}");
    eventually(() -> b.limit.parked() == 1);

    assertThat(silent.release(granted.lease(), Instant.EPOCH, "over to the topic"))
        .isInstanceOf(SettleResult.Settled.class);

    eventually(order::isOver);
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Done.class);
  }

  @Test
  void recordKnownToBeDone_costsNoRequest() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    TestInstance b = start("b", FlowFixture::done);
    Sent _ = a.deliver("order-1", "{}");
    eventually(() -> b.knows("order-1", "{}"));

    Sent second = b.deliver("order-1", "{}");
    Sent again = a.deliver("order-1", "{}");

    eventually(() -> second.isOver() && again.isOver());
    assertThat(b.store.calls()).isZero();
    assertThat(a.store.calls(Op.CLAIM)).isOne();
  }

  @Test
  void recordThatIsDoneWhileItWaitsForItsPlace_costsNoRequest() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    settings.maxInFlight = 1;
    TestInstance b = start("b", this::doneWhenItMay);
    Sent first = begun(b, "order-1");
    Sent second = b.deliver("order-2", "{}");
    eventually(() -> second.waitsForAPermit() && b.limit.parked() == 1);
    Sent _ = a.deliver("order-2", "{}");
    eventually(() -> b.knows("order-2", "{}"));

    mayEnd.countDown();

    eventually(() -> first.isOver() && second.isOver());
    assertThat(b.store.calls(Op.CLAIM)).isOne();
  }

  @Test
  void sameIdDeliveredFiveTimesAtOnce_isClaimedOnce() throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    List<Sent> five = IntStream.range(0, 5).mapToObj(_ -> a.deliver("order-1", "{}")).toList();
    eventually(() -> calls.size() == 1);

    mayEnd.countDown();

    eventually(() -> five.stream().allMatch(Sent::isOver));
    assertThat(a.store.calls(Op.CLAIM)).isOne();
    assertThat(calls).hasSize(1);
  }

  @Test
  void follower_goesOn_whenItsLeaderLosesThePartition() throws InterruptedException {
    Contested order = contested();
    Sent follower = order.b().deliver("order-1", "{}");

    order.atB().revoke();

    eventually(order.atB()::hasEnded);
    eventually(() -> order.b().listener.claimed().size() >= 2);
    assertThat(order.atB().isSettled()).isFalse();
    mayEnd.countDown();
    eventually(() -> order.atA().isOver() && follower.isOver());
  }

  @Test
  void withoutOutcomes_theStoreIsAskedAtGrowingIntervals() throws InterruptedException {
    settings.outcomes = false;
    TestInstance a = start("a", this::doneWhenItMay);
    TestInstance b = start("b", FlowFixture::done);
    Sent _ = begun(a, "order-1");
    Sent second = b.deliver("order-1", "{}");
    eventually(() -> b.store.calls(Op.CLAIM) >= 4);
    List<Long> ticks = b.store.claims().stream().map(claim -> claim.start().ticks()).toList();
    long[] pauses = new long[3];
    for (int i = 0; i < 3; i++) {
      pauses[i] = Duration.ofNanos(ticks.get(i + 1) - ticks.get(i)).toMillis();
    }
    assertThat(pauses[0]).isGreaterThanOrEqualTo(100);
    assertThat(pauses[1]).isGreaterThanOrEqualTo(200);
    assertThat(pauses[2]).isGreaterThanOrEqualTo(400);

    mayEnd.countDown();

    eventually(second::isOver);
    assertThat(calls).hasSize(1);
  }

  @Test
  void leaseThatIsOver_isTakenOver_withAHigherToken() throws InterruptedException {
    settings.maxAttempts = 5; // so that one death raises no suspicion
    TestInstance b = start("b", FlowFixture::done);
    MemoryClaimStore dead = TestInstance.anothers(claims, SHORT_LEASE, time);
    assertThat(dead.claim(TestInstance.claim("order-1", "{}", time)))
        .isInstanceOf(ClaimResult.Granted.class);

    process(b, "order-1");
    assertThat(b.listener.takeovers).hasValue(1);
    assertThat(calls).singleElement().matches(call -> call.token() == 2 && call.attempt() == 2);
    assertThat(broker.outcomes(Outcome.Kind.TAKEN_OVER))
        .singleElement()
        .satisfies(outcome -> assertThat(outcome.cause()).contains("a/9"));
  }

  // --- Interrupts from outside ---

  @Test
  void waitingRecordThatIsInterruptedFromOutside_goesOnWaiting() throws InterruptedException {
    Contested order = contested();

    order.atB().interrupt();
    mayEnd.countDown();

    eventually(() -> order.atA().isOver() && order.atB().isOver());
    eventually(order.atB()::hasEnded);
  }

  @Test
  void settlementThatIsInterruptedFromOutside_isMadeAllTheSame() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    a.store.next(Op.COMPLETE, Fault.LOST_ANSWER);
    Hold hold = a.store.hold(Op.COMPLETE);
    Sent sent = a.deliver("order-1", "{}");
    eventually(() -> hold.arrived() == 1);

    sent.interrupt();
    hold.release();

    eventually(sent::isOver);
    assertThat(calls).hasSize(1);
    assertThat(a.store.calls(Op.CLAIM)).isEqualTo(1);
  }

  // --- Revoked partitions ---

  @Test
  void recordOfARevokedPartition_isNotStarted_thoughItHasWaitedForItsPlace()
      throws InterruptedException {
    settings.maxInFlight = 1;
    TestInstance a = start("a", this::doneWhenItMay);
    Sent first = begun(a, "order-1");
    Sent second = a.deliver("order-2", "{}");
    Sent third = a.deliver("order-3", "{}");
    eventually(() -> second.waitsForAPermit() && third.waitsForAPermit());

    second.revoke();
    mayEnd.countDown();

    eventually(() -> first.isOver() && third.isOver() && second.hasEnded());
    assertThat(second.isSettled()).isFalse();
    assertThat(calls.stream().map(call -> call.id().text()))
        .containsExactlyInAnyOrder("order-1", "order-3");
    assertThat(stored("order-2")).isEmpty();
  }

  @Test
  void recordInItsHandlersHands_isFinished_thoughItsPartitionWasRevoked()
      throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    Sent sent = begun(a, "order-1");

    sent.revoke();
    mayEnd.countDown();

    eventually(sent::hasEnded);
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Done.class);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(1);
  }

  @Test
  void recordThatWaits_endsAtOnce_whenItsPartitionIsRevoked() throws InterruptedException {
    Contested order = contested();

    order.atB().revoke();

    eventually(() -> order.atB().hasEnded() && order.b().limit.isEmpty());
    assertThat(order.atB().isSettled()).isFalse();
  }

  // --- Announcements ---

  @Test
  void endThatItsHolderNeverAnnounced_isAnnouncedByTheNextDeliverer_once()
      throws InterruptedException {
    settings.lease = KEPT_LEASE;
    TestInstance b = start("b", FlowFixture::done);
    TestInstance c = start("c", FlowFixture::done);
    Moment ended = time.now();
    endedSilently("order-1", ended.wall());

    Sent atB = b.deliver("order-1", "{}");
    Sent again = b.deliver("order-1", "{}");
    eventually(() -> b.listener.claimed().equals(List.of(Claimed.DONE)));
    boolean settled = atB.isSettled();
    assertThat(settled && time.now().since(ended).compareTo(settings.lease) < 0)
        .as("settled within the lease")
        .isFalse();
    eventually(() -> atB.isOver() && again.isOver());
    eventually(() -> c.knows("order-1", "{}"));
    process(c, "order-1");

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
    TestInstance b = start("b", FlowFixture::done);
    endedSilently("order-1", time.now().wall().plus(Duration.ofHours(1)));

    process(b, "order-1");
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(1);
  }

  @Test
  void endOfLongAgo_isNotAnnouncedAgain() throws InterruptedException {
    TestInstance b = start("b", FlowFixture::done);
    endedSilently("order-1", time.now().wall().minus(Duration.ofHours(1)));

    process(b, "order-1");
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

    process(a, "order-1");
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Done.class);
  }

  /** Who has it delivered next finds it done, and announces that. */
  @Test
  void outcomeThatCannotBePublished_asTheInstanceEnds_keepsItsOffset_andDoesNotHoldTheRecordUp()
      throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    a.closeOutcomes();

    Sent sent = a.deliver("order-1", "{}");

    eventually(sent::hasEnded);
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Done.class);
    assertThat(sent.isSettled()).isFalse();
  }

  // --- Defects ---

  /** A record in which no ID can be looked for as long as this holds; the test itself may. */
  private static ConsumerRecord<byte[], byte[]> unreadableWhile(BooleanSupplier fails) {
    ConsumerRecord<byte[], byte[]> plain = TestRecords.record("order-1", "{}");
    return new ConsumerRecord<>("in", 0, 0, plain.key(), plain.value()) {
      @Override
      public byte[] key() {
        if (Thread.currentThread().isVirtual() && fails.getAsBoolean()) {
          throw new LinkageError("for a moment");
        }
        return super.key();
      }
    };
  }

  @Test
  void recordWhoseIdIsLookedForInVain_byADefect_isLookedAtAgain() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    AtomicInteger faults = new AtomicInteger(2);

    Sent order = a.deliver(unreadableWhile(() -> faults.getAndDecrement() > 0));

    eventually(order::isOver);
    eventually(() -> order.hasEnded() && a.limit.isEmpty());
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Done.class);
    assertThat(calls).hasSize(1);
  }

  @Test
  void recordWhoseIdCannotBeLookedFor_isLeft_withItsPartition() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    AtomicInteger faults = new AtomicInteger();
    Sent order = a.deliver(unreadableWhile(() -> faults.incrementAndGet() > 0));
    eventually(() -> faults.get() > 0);

    order.revoke();

    eventually(() -> order.hasEnded() && a.limit.isEmpty());
    assertThat(order.isSettled()).isFalse();
  }

  @Test
  void recordThatMeetsADefectOutsideItsStates_goesOn_andSoDoThoseThatFollowIt()
      throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    AtomicInteger faults = new AtomicInteger(1);
    a.trace =
        new Trace() {
          @Override
          public void identified(RecordId id) {
            if (faults.getAndDecrement() > 0) {
              throw new LinkageError("for a moment");
            }
          }
        };

    Sent first = a.deliver("order-1", "{}");
    Sent second = a.deliver("order-1", "{}");
    eventually(() -> calls.size() == 1);
    mayEnd.countDown();

    eventually(() -> first.isOver() && second.isOver());
    eventually(() -> first.hasEnded() && second.hasEnded() && a.limit.isEmpty());
    assertThat(calls).hasSize(1);
  }
}
