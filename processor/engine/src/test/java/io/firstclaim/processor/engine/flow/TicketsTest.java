package io.firstclaim.processor.engine.flow;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.identity.ClaimId;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TicketsTest {
  private static final ClaimId ID = ClaimId.of(RecordId.of("order-1"));
  private static final Duration LONG = Duration.ofSeconds(15);

  private final Tickets<Object> tickets = new Tickets<>();

  private static Ticket<Object> ticket() {
    return ticket("partition 0");
  }

  private static Ticket<Object> ticket(Object owner) {
    return new Ticket<>(ID, Fingerprint.none(), owner);
  }

  private Ticket<Object> entered(Ticket<Object> ticket) {
    assertThat(tickets.enter(ticket)).isNull();
    return ticket;
  }

  @Test
  void signalThatComesBeforeItIsAwaited_isNotLost() throws InterruptedException {
    Ticket<Object> ticket = entered(ticket());

    tickets.signal(ID, new Signal.Ended());

    assertThat(ticket.await(LONG)).isEqualTo(new Signal.Ended());
  }

  @Test
  void signal_isHeardOnce() throws InterruptedException {
    Ticket<Object> ticket = entered(ticket());
    tickets.signal(ID, new Signal.Ended());
    assertThat(ticket.await(LONG)).isNotNull();

    assertThat(ticket.await(Duration.ofMillis(1))).isNull();
  }

  @Test
  void signal_wakesTheOneThatWaits() throws InterruptedException {
    AtomicReference<@Nullable Signal> heard = new AtomicReference<>();
    AtomicReference<@Nullable Ticket<Object>> made = new AtomicReference<>();
    Thread waiting =
        Thread.ofPlatform()
            .start(
                () -> {
                  Ticket<Object> ticket = entered(ticket());
                  made.set(ticket);
                  try {
                    heard.set(ticket.await(LONG));
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
    eventually(() -> made.get() != null && waiting.getState() == Thread.State.TIMED_WAITING);

    tickets.signal(ID, new Signal.DueIn(Duration.ZERO));

    assertThat(waiting.join(Duration.ofSeconds(5))).isTrue();
    assertThat(heard.get()).isEqualTo(new Signal.DueIn(Duration.ZERO));
  }

  @Test
  void laterSignal_replacesAnEarlierOne() throws InterruptedException {
    Ticket<Object> ticket = entered(ticket());
    tickets.signal(ID, new Signal.DueIn(Duration.ZERO));
    tickets.signal(ID, new Signal.Ended());

    assertThat(ticket.await(LONG)).isEqualTo(new Signal.Ended());
  }

  @Test
  void stop_isNeverOverwritten_andHeardEveryTime() throws InterruptedException {
    Ticket<Object> ticket = entered(ticket());
    tickets.stopAll();
    tickets.signal(ID, new Signal.Ended());

    assertThat(ticket.await(LONG)).isEqualTo(new Signal.Stop());
    assertThat(ticket.await(LONG)).isEqualTo(new Signal.Stop());
  }

  @Test
  void stop_reachesTheTicketsOfItsOwnerOnly() throws InterruptedException {
    Object mine = new Object();
    Ticket<Object> first = entered(ticket(mine));
    Ticket<Object> other =
        new Ticket<>(ClaimId.of(RecordId.of("order-2")), Fingerprint.none(), new Object());
    assertThat(tickets.enter(other)).isNull();

    assertThat(tickets.stop(mine::equals)).isEmpty();

    assertThat(first.await(LONG)).isEqualTo(new Signal.Stop());
    assertThat(other.await(Duration.ofMillis(1))).isNull();
  }

  @Test
  void interrupt_endsTheWait() throws InterruptedException {
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    Thread waiting =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    Signal _ = ticket().await(LONG);
                  } catch (InterruptedException e) {
                    thrown.set(e);
                  }
                });
    eventually(() -> waiting.getState() == Thread.State.TIMED_WAITING);

    waiting.interrupt();

    assertThat(waiting.join(Duration.ofSeconds(5))).isTrue();
    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
  }

  @Test
  void absurdWaits_areNoDefect() throws InterruptedException {
    Ticket<Object> ticket = entered(ticket());
    assertThat(ticket.await(Duration.ofSeconds(Long.MIN_VALUE))).isNull();

    tickets.signal(ID, new Signal.Ended());
    assertThat(ticket.await(Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo(new Signal.Ended());
  }

  @Test
  void secondOfAnId_isToldWhoWasFirst_untilThatOneLeaves() {
    Ticket<Object> first = entered(ticket());
    Ticket<Object> second = ticket();
    assertThat(tickets.enter(second)).isSameAs(first);

    assertThat(tickets.leave(first)).isEmpty();

    assertThat(tickets.enter(second)).isNull();
  }

  @Test
  void followers_areHandedOver_onceTheLeaderLeaves_andItTakesNoMore() {
    Ticket<Object> leader = entered(ticket());
    assertThat(leader.follow("first")).isTrue();
    assertThat(leader.follow("second")).isTrue();

    assertThat(tickets.leave(leader)).containsExactly("first", "second");

    assertThat(leader.follow("third")).isFalse();
    assertThat(tickets.leave(leader)).isEmpty();
  }

  @Test
  void followersOfALostPartition_areTakenOut_andTheOthersGoOnWaiting() {
    Ticket<Object> leader = entered(ticket("mine"));
    assertThat(leader.follow("lost")).isTrue();
    assertThat(leader.follow("kept")).isTrue();

    assertThat(tickets.stop("lost"::equals)).containsExactly("lost");

    assertThat(tickets.leave(leader)).containsExactly("kept");
  }

  @Test
  void leavingAgain_changesNothing() {
    Ticket<Object> first = entered(ticket());
    assertThat(tickets.leave(first)).isEmpty();
    Ticket<Object> second = entered(ticket());

    assertThat(tickets.leave(first)).isEmpty();

    assertThat(tickets.enter(ticket())).isSameAs(second);
  }

  @Test
  void signalForAnIdThatNobodyWaitsFor_isNothing() {
    tickets.signal(ID, new Signal.Ended());

    assertThat(tickets.enter(ticket())).isNull();
  }

  @Test
  void ticket_knowsItsPayload() {
    Fingerprint payload = Fingerprint.of(new byte[] {1});
    Ticket<Object> ticket = new Ticket<>(ID, payload, "partition 0");

    assertThat(ticket.isFor(payload)).isTrue();
    assertThat(ticket.isFor(Fingerprint.of(new byte[] {2}))).isFalse();
  }
}
