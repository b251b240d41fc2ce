package io.firstclaim.processor.engine.flow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.admission.ResourceTurns;
import io.firstclaim.processor.engine.api.EngineSettings.Trust;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.flow.WaitingRoom.Seat;
import io.firstclaim.processor.engine.flow.WaitingRoom.Woken;
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
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Signals that come before they are awaited are kept, so most of these need one thread only. */
@Timeout(60)
class WaitingRoomTest {
  private static final Duration LONG = Duration.ofSeconds(15);
  private static final Instant START = TestTime.standing().now().wall();
  private static final RecordId ID = RecordId.of("order-1");

  private final Tickets<Errand> tickets = new Tickets<>();
  private final KnownDone known = new KnownDone(10, Duration.ofDays(8), TestTime.standing());
  private final AssignedPartition partition = new AssignedPartition(new TopicPartition("in", 0));
  private boolean live = true;
  private long offset;
  private final WaitingRoom room =
      new WaitingRoom(
          tickets, new ResourceTurns(TestTime.standing()), known, () -> live, Trust.TOPIC);

  private static Fingerprint payload(String value) {
    return Fingerprint.of(value.getBytes(UTF_8));
  }

  private static Work work(String value) {
    return Work.of(new Identity.Found(ID), value.getBytes(UTF_8), _ -> HandlerResult.done(), null);
  }

  private Errand errand(Work work) {
    ConsumerRecord<byte[], byte[]> record = TestRecords.record(ID.text(), "{}", 0, offset++);
    return new Errand(
        new Delivery(
            record,
            partition,
            partition.delivered(record),
            new Moment(START, 0),
            null,
            () -> {},
            Trace.NONE),
        work,
        true);
  }

  private Seat entered(Work work) {
    Seat seat = room.seat(errand(work));
    assertThat(seat.enter()).isNull();
    return seat;
  }

  /** As the feed does it. */
  private void hear(Outcome.Kind kind, String value, @Nullable Duration retry) {
    switch (kind) {
      case COMPLETED, DEAD, MISMATCH -> known.add(ID, payload(value), 1, START);
      case FAILED, TAKEN_OVER, LEASE_LOST, BLOCKED -> {}
    }
    room.heard(
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
            retry == null ? null : START.plus(retry)));
  }

  @Test
  void announcedEnd_wakesTheRecord() throws InterruptedException {
    for (Outcome.Kind end : new Outcome.Kind[] {Outcome.Kind.COMPLETED, Outcome.Kind.DEAD}) {
      Seat seat = entered(work(end.name()));
      hear(end, end.name(), null);

      assertThat(seat.await(LONG)).isEqualTo(Woken.ITS_END);
      assertThat(seat.leave()).isEmpty();
    }
  }

  @Test
  void endThatIsKnown_isNotWaitedFor() throws InterruptedException {
    hear(Outcome.Kind.COMPLETED, "{}", null);

    Seat seat = entered(work("{}"));

    assertThat(seat.isKnownToHaveEnded()).isTrue();
    assertThat(seat.await(LONG)).isEqualTo(Woken.ITS_END);
  }

  @Test
  void endWithAnotherPayload_isNotItsEnd_butWakesIt() throws InterruptedException {
    Seat seat = entered(work("1"));
    hear(Outcome.Kind.COMPLETED, "22", null);

    assertThat(seat.await(LONG)).isEqualTo(Woken.ANOTHERS_END);
  }

  @Test
  void burialOfAMismatch_wakesWhoWaitsUnderItsStandIn_andNobodyUnderTheId()
      throws InterruptedException {
    Seat standIn = entered(work("22").mismatched(payload("1")));
    Seat first = entered(work("1"));
    hear(Outcome.Kind.MISMATCH, "22", null);

    assertThat(standIn.await(LONG)).isEqualTo(Woken.ITS_END);
    assertThat(first.await(Duration.ZERO)).isEqualTo(Woken.TIME_UP);
  }

  @Test
  void announcedFailure_hasTheRecordWaitUntilItsRetryIsDue() throws InterruptedException {
    Seat seat = entered(work("{}"));
    hear(Outcome.Kind.FAILED, "{}", Duration.ofMillis(1));

    assertThat(seat.await(LONG)).isEqualTo(Woken.RETRY_DUE);
  }

  @Test
  void announcedFailureOfAnotherPayload_isNoneOfItsBusiness() throws InterruptedException {
    Seat seat = entered(work("1"));
    hear(Outcome.Kind.FAILED, "22", Duration.ZERO);

    assertThat(seat.await(Duration.ofMillis(1))).isEqualTo(Woken.TIME_UP);
  }

  @Test
  void recordThatHasEnded_awaitsNoRetry() throws InterruptedException {
    Seat seat = entered(work("{}"));
    hear(Outcome.Kind.FAILED, "{}", LONG);

    assertThat(seat.awaitEnd(Duration.ofMillis(1))).isEqualTo(Woken.TIME_UP);
  }

  @Test
  void takeoverLossAndWaitingElsewhere_wakeNobody() throws InterruptedException {
    Seat seat = entered(work("{}"));
    hear(Outcome.Kind.TAKEN_OVER, "{}", null);
    hear(Outcome.Kind.LEASE_LOST, "{}", null);
    hear(Outcome.Kind.BLOCKED, "{}", null);

    assertThat(seat.await(Duration.ofMillis(1))).isEqualTo(Woken.TIME_UP);
  }

  @Test
  void lossOfThePartition_wakesTheRecord_unlessItHasEnded() throws InterruptedException {
    Seat seat = entered(work("{}"));
    assertThat(room.stop(partition)).isEmpty();
    assertThat(seat.await(LONG)).isEqualTo(Woken.STOP);

    hear(Outcome.Kind.COMPLETED, "{}", null);
    assertThat(seat.await(LONG)).isEqualTo(Woken.ITS_END);
  }

  @Test
  void secondOfARecord_followsTheFirst_withNothingButItsOffset() {
    Errand first = errand(work("1"));
    Seat seat = room.seat(first);
    assertThat(seat.enter()).isNull();
    Errand second = errand(work("1"));

    assertThat(room.seat(second).enter()).isSameAs(first);

    assertThat(seat.leave())
        .singleElement()
        .satisfies(
            twin -> {
              assertThat(twin.delivery().record()).isSameAs(first.delivery().record());
              assertThat(twin.delivery().mark()).isSameAs(second.delivery().mark());
              assertThat(twin.counted()).isFalse();
            });
  }

  @Test
  void otherPayloadOfAnId_followsTheFirst_andKeepsItsValue() {
    Seat seat = entered(work("1"));
    Errand other = errand(work("22"));

    assertThat(room.seat(other).enter()).isNotNull();

    assertThat(seat.leave()).containsExactly(other);
  }

  @Test
  void endIsMissed_ifItIsRecent_andNotKnown_andOutcomesAreHeard() throws InterruptedException {
    Ending recent = new Ending("b/1", 1, 1, START.plusSeconds(1));
    Ending old = new Ending("b/1", 1, 1, START.minusSeconds(1));
    Seat seat = entered(work("{}"));
    assertThat(seat.misses(recent)).isTrue();
    assertThat(seat.misses(old)).isFalse();

    live = false;
    assertThat(seat.misses(recent)).isFalse();

    live = true;
    hear(Outcome.Kind.COMPLETED, "{}", null);
    assertThat(seat.misses(recent)).isFalse();
  }
}
