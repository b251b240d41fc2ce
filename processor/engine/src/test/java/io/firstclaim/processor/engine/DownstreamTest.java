package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.testkit.fault.FaultyStore.Fault;
import io.firstclaim.lock.testkit.fault.FaultyStore.Hold;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.engine.flow.Attempts;
import io.firstclaim.processor.engine.testing.LogLines;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Records whose downstream is not there for a while, in two zones. A record has three attempts. */
@Isolated(LogLines.WHY_ALONE)
class DownstreamTest extends FlowFixture {
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  private volatile RecordHandler downstream = _ -> HandlerResult.done();

  private TestInstance start(String zone) throws InterruptedException {
    settings.lease = Duration.ofHours(1); // time is put forward
    return start(zone, context -> downstream.handle(context));
  }

  private static List<Sent> deliver(TestInstance to, String name, int records) {
    return IntStream.range(0, records).mapToObj(i -> to.deliver(name + "-" + i, "{}")).toList();
  }

  private static HandlerResult gone(RecordContext context) {
    return HandlerResult.unavailable("nobody is there", Duration.ZERO);
  }

  private static HandlerResult broken(RecordContext context) {
    return HandlerResult.retry("HTTP 500");
  }

  /** Delivers so many records, which find that nobody is there. */
  private List<Sent> deliverInVain(TestInstance to, int records) {
    downstream = DownstreamTest::gone;
    List<Sent> sent = deliver(to, "order", records);
    eventuallyOpen(to);
    return sent;
  }

  private void eventuallyOpen(TestInstance... those) {
    for (TestInstance instance : those) {
      eventually(() -> instance.state().downstreamFault().isPresent());
      eventually(() -> instance.limit.inFlight() == 0);
    }
  }

  /** Minutes pass, in which each instance tries a few times. */
  private void outage(Duration length) {
    for (Duration passed = Duration.ZERO;
        passed.compareTo(length) < 0;
        passed = passed.plus(LONGEST_PAUSE)) {
      int before = calls.size();
      time.advance(LONGEST_PAUSE);
      eventually(() -> calls.size() > before);
    }
  }

  /** Waits until so many are in line for a try: it is then known who is first. */
  private static void eventuallyInLine(TestInstance at, int records) {
    eventually(
        () ->
            at.waitingFor(WaitsFor.DOWNSTREAM).filter(each -> each.until().isEmpty()).count()
                == records);
  }

  private int attemptsOf(String id) {
    return instances.getFirst().store.find(RecordId.of(id)).orElseThrow().attempts();
  }

  @Test
  void tenMinutesWithoutDownstream_makeNoDeadLetter_andCountNoAttempt()
      throws InterruptedException {
    downstream = DownstreamTest::gone;
    TestInstance a = start("a");
    TestInstance b = start("b");
    List<Sent> all = new ArrayList<>(deliver(a, "order", 50));
    all.addAll(deliver(b, "order", 50));
    eventuallyOpen(a, b);
    int before = calls.size();

    outage(Duration.ofMinutes(10));

    int tried = calls.size() - before;
    assertThat(tried).as("calls in ten minutes").isLessThan(2 * 60 * 3);
    assertThat(calls).allMatch(call -> call.attempt() == 1);
    downstream = _ -> HandlerResult.done();
    time.advance(LONGEST_PAUSE);
    eventually(() -> all.stream().allMatch(Sent::isOver));
    assertThat(broker.deadLetters()).isEmpty();
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED))
        .hasSize(50)
        .allMatch(outcome -> outcome.attempt() == 1);
    List<Sent> more = List.of(a.deliver("more-a", "{}"), b.deliver("more-b", "{}"));
    eventually(() -> more.stream().allMatch(Sent::isOver));
    assertThat(a.state().downstreamFault()).isEmpty();
    assertThat(b.state().downstreamFault()).isEmpty();
  }

  @Test
  void whileItIsOpen_nothingIsClaimed_andNoPlaceIsTaken() throws InterruptedException {
    TestInstance a = start("a");
    List<Sent> _ = deliverInVain(a, 1);
    Moment open = time.now();
    int claimed = a.store.calls(Op.CLAIM);

    List<Sent> all = deliver(a, "more", 20);

    eventually(() -> a.limit.parked() == 21 && a.limit.inFlight() == 0);
    int claimedBy = a.store.calls(Op.CLAIM);
    int tries = 1 + (int) (time.now().since(open).toMillis() / 250); // no pause is shorter
    assertThat(claimedBy).isLessThanOrEqualTo(claimed + tries);
    assertThat(all).noneMatch(Sent::isSettled);
  }

  @Test
  void eachTime_anotherRecordTries() throws InterruptedException {
    TestInstance a = start("a");
    List<Sent> _ = deliverInVain(a, 4);
    eventuallyInLine(a, 4);
    calls.clear();

    for (int i = 1; i <= 8; i++) {
      int expected = i;
      time.advance(LONGEST_PAUSE);
      eventually(() -> calls.size() >= expected);
      eventually(() -> a.limit.inFlight() == 0);
      eventuallyInLine(a, 4);
    }

    List<String> ids = calls.stream().map(call -> call.id().text()).toList();
    assertThat(ids.subList(0, 4)).doesNotHaveDuplicates();
    assertThat(ids.subList(4, 8)).doesNotHaveDuplicates();
  }

  @Test
  void recordThatTheOtherZoneEnds_isSettledHere_thoughItWaits() throws InterruptedException {
    downstream = context -> context.zone().equals("a") ? gone(context) : HandlerResult.done();
    TestInstance a = start("a");
    TestInstance b = start("b");
    List<Sent> atA = deliver(a, "order", 10);
    eventuallyOpen(a);

    List<Sent> atB = deliver(b, "order", 10);

    eventually(() -> atA.stream().allMatch(Sent::isOver));
    eventually(() -> atB.stream().allMatch(Sent::isOver));
    assertThat(b.state().downstreamFault()).isEmpty();
  }

  @Test
  void claimWhoseAnswerWasLost_isGivenBack_beforeItsRecordWaits() throws InterruptedException {
    downstream =
        context -> {
          mayEnd.await();
          return gone(context);
        };
    TestInstance a = start("a");
    Sent _ = begun(a, "first");
    a.store.next(Op.CLAIM, Fault.LOST_ANSWER);
    Hold hold = a.store.hold(Op.CLAIM);
    Sent _ = a.deliver("lost", "{}");
    eventually(() -> hold.arrived() == 1);
    mayEnd.countDown();
    eventually(() -> a.state().downstreamFault().isPresent());

    hold.release();

    eventually(
        () ->
            broker.outcomes(Outcome.Kind.FAILED).stream()
                .anyMatch(
                    outcome ->
                        outcome.id().equals("lost") && "it was not begun".equals(outcome.cause())));
  }

  @Test
  void recordThatWaits_ends_whenItsPartitionIsRevoked() throws InterruptedException {
    TestInstance a = start("a");
    List<Sent> all = deliverInVain(a, 3);

    all.forEach(Sent::revoke);

    eventually(() -> all.stream().allMatch(Sent::hasEnded));
    eventually(a.limit::isEmpty);
  }

  @Test
  void waitThatTheDownstreamAsksFor_isKept_byAllZones() throws InterruptedException {
    downstream = _ -> HandlerResult.unavailable("busy", Duration.ofHours(1));
    TestInstance a = start("a");
    Sent _ = a.deliver("order-1", "{}");
    eventuallyOpen(a);

    assertThat(broker.outcomes(Outcome.Kind.FAILED))
        .singleElement()
        .satisfies(
            outcome -> {
              assertThat(outcome.retryAt()).isAfter(outcome.at().plus(Duration.ofMinutes(59)));
              assertThat(outcome.cause()).isEqualTo("busy");
            });
    assertThat(attemptsOf("order-1")).isZero();
  }

  @Test
  void recordThatAloneIsRefused_isDeadInTheEnd_andItsNeighboursGoOn() throws InterruptedException {
    downstream =
        context -> context.id().text().equals("odd") ? gone(context) : HandlerResult.done();
    TestInstance a = start("a");
    Sent odd = a.deliver("odd", "{}");

    for (int i = 0; !odd.isSettled(); i++) {
      Sent neighbour = a.deliver("order-" + i, "{}");
      eventually(neighbour::isOver);
      time.advance(Duration.ofMillis(100));
    }

    assertThat(broker.deadLetters()).hasSize(1);
    assertThat(a.store.find(RecordId.of("odd")).orElseThrow().state())
        .isInstanceOf(ClaimState.Dead.class);
    List<Integer> attempts =
        calls.stream()
            .filter(call -> call.id().text().equals("odd"))
            .map(RecordContext::attempt)
            .toList();
    assertThat(attempts).isSorted().contains(2).endsWith(3);
    assertThat(attempts.stream().filter(attempt -> attempt == 1).count()).isGreaterThanOrEqualTo(3);
  }

  @Test
  void deployThatFailsEveryRecord_costsNoRecordAllItsAttempts() throws InterruptedException {
    settings.backoff = LONGEST_PAUSE; // no record has three attempts before others have one
    downstream = DownstreamTest::broken;
    TestInstance a = start("a");
    List<Sent> all = deliver(a, "order", 100);
    eventuallyOpen(a);

    outage(Duration.ofMinutes(1));

    assertThat(broker.deadLetters()).isEmpty();
    downstream = _ -> HandlerResult.done();
    time.advance(LONGEST_PAUSE.multipliedBy(3));
    eventually(() -> all.stream().allMatch(Sent::isOver));
    assertThat(broker.deadLetters()).isEmpty();
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(100);
  }

  @Test
  void failedAttempt_isOneLine_atInfo_andTheLastOneAtWarn() throws InterruptedException {
    downstream = DownstreamTest::broken;
    try (LogLines log = new LogLines(Attempts.class.getName())) {
      Sent sent = start("a").deliver("order-1", "{}");

      eventually(sent::isOver);

      assertThat(log.of("INFO"))
          .hasSize(2)
          .allSatisfy(
              line ->
                  assertThat(line)
                      .matches("INFO Attempt [12] on order-1 failed, next in PT.*S: HTTP 500"));
      // Its offset may go before that is said.
      String last = "WARN Gave order-1 up after attempt 3: HTTP 500";
      eventually(() -> log.of("WARN").contains(last));
      assertThat(log.of("WARN")).containsExactly(last);
    }
  }

  @Test
  void poisonAmongGoodRecords_isDead_asBefore() throws InterruptedException {
    downstream =
        context ->
            context.id().text().startsWith("poison") ? broken(context) : HandlerResult.done();
    TestInstance a = start("a");
    List<Sent> poison = deliver(a, "poison", 20);
    List<Sent> good = deliver(a, "order", 30);

    eventually(
        () -> {
          time.advance(Duration.ofSeconds(1));
          return good.stream().allMatch(Sent::isSettled);
        });
    for (int i = 0; !poison.stream().allMatch(Sent::isSettled); i++) {
      Sent more = a.deliver("more-" + i, "{}");
      eventually(
          () -> {
            time.advance(LONGEST_PAUSE);
            return more.isSettled();
          });
    }

    assertThat(broker.deadLetters()).hasSize(20);
  }

  @Test
  void handlerThatComesBackNever_doesNotKeepTheBreakerOpen() throws InterruptedException {
    TestInstance a = start("a");
    List<Sent> _ = deliverInVain(a, 5);
    AtomicBoolean first = new AtomicBoolean(true);
    CountDownLatch hangs = new CountDownLatch(1);
    CountDownLatch hung = new CountDownLatch(1);
    downstream =
        _ -> {
          if (first.getAndSet(false)) {
            hangs.countDown();
            hung.await();
          }
          return HandlerResult.done();
        };
    time.advance(LONGEST_PAUSE);
    eventually(() -> hangs.getCount() == 0);

    time.advance(LONGEST_PAUSE);

    eventually(() -> a.state().downstreamFault().isEmpty());
    hung.countDown();
    eventually(a.limit::isEmpty);
  }
}
