package io.firstclaim.processor.engine.flow;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.admission.ResourceTurns;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.identity.ClaimId;
import io.firstclaim.processor.engine.identity.Identity;
import io.firstclaim.processor.engine.intake.AssignedPartition;
import io.firstclaim.processor.engine.intake.Delivery;
import io.firstclaim.processor.engine.outcome.KnownDone;
import io.firstclaim.processor.engine.testing.TestRecords;
import io.firstclaim.processor.engine.testing.TestTime;
import io.firstclaim.processor.engine.trace.Trace;
import io.firstclaim.processor.handler.HandlerResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Signals that come before they are awaited are kept, so most of these need one thread only. */
class RecordsInFlightTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Instant START = TestTime.standing().now().wall();
  private static final RecordId ID = RecordId.of("order-1");
  private static final ClaimId CLAIM_ID = ClaimId.of(ID);
  private static final EngineSettings SETTINGS =
      Engine.builder().zone("a").topics("in").recordId("key").bootstrapServers("no:1").settings();

  private final KnownDone known =
      new KnownDone(10, 1 << 20, Duration.ofDays(8), TestTime.standing());
  private final AssignedPartition partition = partition(0);
  private boolean live = true;
  private long offset;
  private final RecordsInFlight records =
      new RecordsInFlight(SETTINGS, new ResourceTurns(TestTime.standing()), known, () -> live);

  private static AssignedPartition partition(int number) {
    return new AssignedPartition(new TopicPartition("in", number), "");
  }

  private static Fingerprint payload(String value) {
    return Fingerprint.of(value.getBytes(UTF_8));
  }

  private static Work work(String value) {
    return work(ID, value);
  }

  private static Work work(RecordId id, String value) {
    return Work.of(new Identity.Found(id), value.getBytes(UTF_8), _ -> HandlerResult.done(), null);
  }

  private RecordInFlight record(Work work) {
    return record(work, partition);
  }

  private RecordInFlight record(Work work, AssignedPartition of) {
    ConsumerRecord<byte[], byte[]> record = TestRecords.record(ID.text(), "{}", 0, offset++);
    return new RecordInFlight(
        new Delivery(
            record, of, of.delivered(record), new Moment(START, 0), null, () -> {}, Trace.NONE),
        work,
        records);
  }

  private RecordInFlight entered(Work work) {
    return entered(record(work));
  }

  private static RecordInFlight entered(RecordInFlight record) {
    assertThat(record.enter()).isNull();
    return record;
  }

  /** Tells of an outcome as the feed does. */
  private void hear(Outcome.Kind kind, String value, @Nullable Duration retry) {
    switch (kind) {
      case COMPLETED, DEAD, MISMATCH -> known.add(ID, payload(value), 1, START);
      case FAILED, TAKEN_OVER, LEASE_LOST, BLOCKED -> {}
    }
    records.heard(
        ID,
        payload(value),
        new Outcome(
            ID.text(),
            kind,
            "b",
            "1",
            1,
            1,
            "in",
            0,
            0,
            START,
            Duration.ZERO,
            null,
            retry == null ? null : START.plus(retry),
            List.of()));
  }

  @Test
  void announcedEnd_wakesTheRecord() throws InterruptedException {
    for (Outcome.Kind end : new Outcome.Kind[] {Outcome.Kind.COMPLETED, Outcome.Kind.DEAD}) {
      RecordInFlight record = entered(work(end.name()));
      hear(end, end.name(), null);

      assertThat(record.await(LONG)).isEqualTo(Woken.ITS_END);
      assertThat(record.leave()).isEmpty();
    }
  }

  @Test
  void endThatIsKnown_isNotWaitedFor() throws InterruptedException {
    hear(Outcome.Kind.COMPLETED, "{}", null);

    RecordInFlight record = entered(work("{}"));

    assertThat(record.isKnownToHaveEnded()).isTrue();
    assertThat(record.await(LONG)).isEqualTo(Woken.ITS_END);
  }

  @Test
  void endThatIsHeardBeforeTheWait_isNotMissed_byOneThatWaitsForItsTurn()
      throws InterruptedException {
    RecordInFlight record = entered(work("{}"));
    hear(Outcome.Kind.COMPLETED, "{}", null);
    record.call();

    assertThat(record.awaitTurn(LONG)).isEqualTo(Woken.ITS_END);
  }

  @Test
  void endWithAnotherPayload_isNotItsEnd_butWakesIt() throws InterruptedException {
    RecordInFlight record = entered(work("1"));
    hear(Outcome.Kind.COMPLETED, "22", null);

    assertThat(record.await(LONG)).isEqualTo(Woken.SIGNALLED);
  }

  @Test
  void burialOfAMismatch_wakesWhoWaitsUnderItsStandIn_andNobodyUnderTheId()
      throws InterruptedException {
    RecordInFlight standIn = entered(work("22").mismatched(payload("1")));
    RecordInFlight first = entered(work("1"));
    hear(Outcome.Kind.MISMATCH, "22", null);

    assertThat(standIn.await(LONG)).isEqualTo(Woken.ITS_END);
    assertThat(first.await(Duration.ZERO)).isEqualTo(Woken.TIME_UP);
  }

  @Test
  void announcedFailure_hasTheRecordWaitUntilItsRetryIsDue() throws InterruptedException {
    RecordInFlight record = entered(work("{}"));
    hear(Outcome.Kind.FAILED, "{}", Duration.ofMillis(1));

    assertThat(record.await(LONG)).isEqualTo(Woken.SIGNALLED);
  }

  @Test
  void announcedFailureOfAnotherPayload_isNoneOfItsBusiness() throws InterruptedException {
    RecordInFlight record = entered(work("1"));
    hear(Outcome.Kind.FAILED, "22", Duration.ZERO);

    assertThat(record.await(Duration.ofMillis(1))).isEqualTo(Woken.TIME_UP);
  }

  @Test
  void recordThatHasEnded_awaitsNoRetry() throws InterruptedException {
    RecordInFlight record = entered(work("{}"));
    hear(Outcome.Kind.FAILED, "{}", LONG);

    assertThat(record.awaitEnd(Duration.ofMillis(1))).isEqualTo(Woken.TIME_UP);
  }

  @Test
  void signalsThatAreNoneOfItsBusiness_doNotProlongItsWait() throws InterruptedException {
    RecordInFlight record = entered(work("{}"));
    AtomicBoolean enough = new AtomicBoolean();
    long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    Thread others =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (!enough.get() && System.nanoTime() < end) {
                    record.signal(new Signal.DueIn(Duration.ZERO));
                    LockSupport.parkNanos(100_000);
                  }
                });

    assertThat(record.awaitEnd(Duration.ofMillis(500))).isEqualTo(Woken.TIME_UP);

    assertThat(others.isAlive()).as("others still call").isTrue();
    enough.set(true);
    others.join();
  }

  @Test
  void takeoverLossAndWaitingElsewhere_wakeNobody() throws InterruptedException {
    RecordInFlight record = entered(work("{}"));
    hear(Outcome.Kind.TAKEN_OVER, "{}", null);
    hear(Outcome.Kind.LEASE_LOST, "{}", null);
    hear(Outcome.Kind.BLOCKED, "{}", null);

    assertThat(record.await(Duration.ofMillis(1))).isEqualTo(Woken.TIME_UP);
  }

  @Test
  void lossOfThePartition_wakesTheRecord_unlessItHasEnded() throws InterruptedException {
    RecordInFlight record = entered(work("{}"));
    assertThat(records.stop(partition)).isEmpty();
    assertThat(record.await(LONG)).isEqualTo(Woken.STOP);

    hear(Outcome.Kind.COMPLETED, "{}", null);
    assertThat(record.await(LONG)).isEqualTo(Woken.ITS_END);
  }

  @Test
  void lossOfAPartition_stopsItsOwnRecordsOnly() throws InterruptedException {
    RecordInFlight mine = entered(work("{}"));
    RecordInFlight other = entered(record(work(RecordId.of("order-2"), "{}"), partition(1)));

    assertThat(records.stop(partition)).isEmpty();

    assertThat(mine.awaitSignal(LONG)).isEqualTo(new Signal.Stop());
    assertThat(other.awaitSignal(Duration.ofMillis(1))).isNull();
  }

  @Test
  void secondOfARecord_followsTheFirst_withNothingButItsOffset() {
    RecordInFlight first = entered(work("1"));
    RecordInFlight second = record(work("1"));

    assertThat(second.enter()).isInstanceOf(State.Twin.class);

    assertThat(first.leave())
        .singleElement()
        .satisfies(
            twin -> {
              assertThat(twin.delivery().record()).isSameAs(first.delivery().record());
              assertThat(twin.delivery().mark()).isSameAs(second.delivery().mark());
              assertThat(twin.isCounted()).isFalse();
            });
  }

  @Test
  void otherPayloadOfAnId_followsTheFirst_andKeepsItsValue() {
    RecordInFlight first = entered(work("1"));
    RecordInFlight other = record(work("22"));

    assertThat(other.enter()).isInstanceOf(State.Following.class);

    assertThat(first.leave())
        .singleElement()
        .satisfies(
            follower -> {
              assertThat(follower.delivery()).isSameAs(other.delivery());
              assertThat(follower.isCounted()).isTrue();
            });
  }

  @Test
  void endIsMissed_ifItIsRecent_andNotKnown_andOutcomesAreHeard() {
    Ending recent = new Ending("b/1", 1, 1, START.plusSeconds(1));
    Ending old = new Ending("b/1", 1, 1, START.minusSeconds(1));
    RecordInFlight record = entered(work("{}"));
    assertThat(record.misses(recent)).isTrue();
    assertThat(record.misses(old)).isFalse();

    live = false;
    assertThat(record.misses(recent)).isFalse();

    live = true;
    hear(Outcome.Kind.COMPLETED, "{}", null);
    assertThat(record.misses(recent)).isFalse();
  }

  @Test
  void signalThatComesBeforeItIsAwaited_isNotLost() throws InterruptedException {
    RecordInFlight record = entered(work("{}"));

    records.signal(CLAIM_ID, new Signal.Ended());

    assertThat(record.awaitSignal(LONG)).isEqualTo(new Signal.Ended());
  }

  @Test
  void signal_isHeardOnce() throws InterruptedException {
    RecordInFlight record = entered(work("{}"));
    records.signal(CLAIM_ID, new Signal.Ended());
    assertThat(record.awaitSignal(LONG)).isNotNull();

    assertThat(record.awaitSignal(Duration.ofMillis(1))).isNull();
  }

  @Test
  void signal_wakesTheOneThatWaits() throws InterruptedException {
    AtomicReference<@Nullable Signal> heard = new AtomicReference<>();
    Thread waiting = waiting(heard, new AtomicReference<>());

    records.signal(CLAIM_ID, new Signal.DueIn(Duration.ZERO));

    assertThat(waiting.join(LONG)).isTrue();
    assertThat(heard.get()).isEqualTo(new Signal.DueIn(Duration.ZERO));
  }

  @Test
  void interrupt_endsTheWait() throws InterruptedException {
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    Thread waiting = waiting(new AtomicReference<>(), thrown);

    waiting.interrupt();

    assertThat(waiting.join(LONG)).isTrue();
    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
  }

  private Thread waiting(
      AtomicReference<@Nullable Signal> heard, AtomicReference<@Nullable Throwable> thrown) {
    RecordInFlight record = record(work("{}"));
    Thread waiting =
        Thread.ofPlatform()
            .start(
                () -> {
                  entered(record);
                  try {
                    heard.set(record.awaitSignal(LONG));
                  } catch (InterruptedException e) {
                    thrown.set(e);
                  }
                });
    eventually(() -> waiting.getState() == Thread.State.TIMED_WAITING);
    return waiting;
  }

  @Test
  void laterSignal_replacesAnEarlierOne() throws InterruptedException {
    RecordInFlight record = entered(work("{}"));
    records.signal(CLAIM_ID, new Signal.DueIn(Duration.ZERO));
    records.signal(CLAIM_ID, new Signal.Ended());

    assertThat(record.awaitSignal(LONG)).isEqualTo(new Signal.Ended());
  }

  @Test
  void stop_isNeverOverwritten_andHeardEveryTime() throws InterruptedException {
    RecordInFlight record = entered(work("{}"));
    records.stopAll();
    records.signal(CLAIM_ID, new Signal.Ended());

    assertThat(record.awaitSignal(LONG)).isEqualTo(new Signal.Stop());
    assertThat(record.awaitSignal(LONG)).isEqualTo(new Signal.Stop());
  }

  @Test
  void absurdWaits_areNoDefect() throws InterruptedException {
    RecordInFlight record = entered(work("{}"));
    assertThat(record.awaitSignal(Duration.ofSeconds(Long.MIN_VALUE))).isNull();

    records.signal(CLAIM_ID, new Signal.Ended());
    assertThat(record.awaitSignal(Duration.ofSeconds(Long.MAX_VALUE)))
        .isEqualTo(new Signal.Ended());
  }

  @Test
  void call_wakesTheRecordThatWaitsForItsTurn_andNoOther() throws InterruptedException {
    RecordInFlight record = entered(work("{}"));
    record.call();
    assertThat(record.awaitTurn(LONG)).isEqualTo(Woken.SIGNALLED);

    record.call();
    assertThat(record.await(Duration.ofMillis(1))).isEqualTo(Woken.TIME_UP);
  }

  @Test
  void nextOfAnId_isTheOne_onceTheFirstHasLeft() {
    RecordInFlight first = entered(work("{}"));
    RecordInFlight second = record(work("{}"));
    assertThat(records.enter(second)).isSameAs(first);

    assertThat(first.leave()).isEmpty();

    assertThat(records.enter(second)).isNull();
  }

  @Test
  void followers_areHandedOver_onceTheFirstLeaves_andItTakesNoMore() {
    RecordInFlight first = entered(work("{}"));
    RecordInFlight second = record(work("1"));
    RecordInFlight third = record(work("2"));
    assertThat(first.isFollowedBy(second)).isTrue();
    assertThat(first.isFollowedBy(third)).isTrue();

    assertThat(first.leave()).containsExactly(second, third);

    assertThat(first.isFollowedBy(record(work("3")))).isFalse();
    assertThat(first.leave()).isEmpty();
  }

  @Test
  void followersOfALostPartition_areTakenOut_andTheOthersGoOnWaiting() {
    RecordInFlight first = entered(work("{}"));
    AssignedPartition gone = partition(1);
    RecordInFlight lost = record(work("1"), gone);
    RecordInFlight kept = record(work("2"));
    assertThat(first.isFollowedBy(lost)).isTrue();
    assertThat(first.isFollowedBy(kept)).isTrue();

    assertThat(records.stop(gone)).containsExactly(lost);

    assertThat(first.leave()).containsExactly(kept);
  }

  @Test
  void leavingAgain_changesNothing() {
    RecordInFlight first = entered(work("{}"));
    assertThat(first.leave()).isEmpty();
    RecordInFlight second = entered(work("{}"));

    assertThat(first.leave()).isEmpty();

    assertThat(records.enter(record(work("{}")))).isSameAs(second);
  }

  @Test
  void signalForAnIdThatNobodyWaitsFor_isNothing() {
    records.signal(CLAIM_ID, new Signal.Ended());

    assertThat(records.enter(record(work("{}")))).isNull();
  }
}
