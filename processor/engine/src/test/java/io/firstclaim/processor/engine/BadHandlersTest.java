package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore.Hold;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What handlers that spin, hang or kill their process do to the records beside theirs: nothing. */
class BadHandlersTest extends FlowFixture {
  /** Occupies a CPU, whatever interrupts it. */
  private void spin() {
    while (mayEnd.getCount() > 0) {
      Thread.onSpinWait();
    }
  }

  /** A process that works on these records dies, so many times. */
  private void diesWith(int times, List<String> ids) {
    MemoryClaimStore dying = TestInstance.anothers(claims, Duration.ofSeconds(30), time);
    for (int i = 0; i < times; i++) {
      for (String id : ids) {
        var granted = (ClaimResult.Granted) dying.claim(TestInstance.claim(id, "{}", time));
        assertThat(dying.renew(granted.lease().counted(true)))
            .isInstanceOf(SettleResult.Settled.class);
      }
      time.advance(Duration.ofSeconds(31));
    }
  }

  private static List<String> ids(int count) {
    return IntStream.range(0, count).mapToObj(i -> "order-" + i).toList();
  }

  // --- Spinning ---

  @Test
  void handlersThatSpinOnEveryCpu_stopNeitherOtherRecordsNorRenewals() throws InterruptedException {
    TestInstance a =
        start(
            "a",
            context -> {
              if (context.id().text().startsWith("spins")) {
                spin();
              }
              return HandlerResult.done();
            });
    int cpus = Runtime.getRuntime().availableProcessors();
    List<String> spins = IntStream.range(0, cpus + 1).mapToObj(i -> "spins-" + i).toList();
    List<Sent> spinning = spins.stream().map(id -> a.deliver(id, "{}")).toList();
    eventually(() -> calls.size() == spinning.size());

    List<Sent> healthy = ids(20).stream().map(id -> a.deliver(id, "{}")).toList();

    eventually(() -> healthy.stream().allMatch(Sent::isOver));
    for (int thirds = 0; thirds < 4; thirds++) {
      untilRenewed(spins);
    }
    mayEnd.countDown();
    eventually(() -> spinning.stream().allMatch(Sent::isOver));
    assertThat(calls).extracting(RecordContext::token).containsOnly(1L);
  }

  // --- Suspects: records whose holders die ---

  /** Those whose holder died are left alone for a lease, which passes, and told to go on. */
  private void leftAloneForALease(TestInstance by, List<String> suspects) {
    eventually(() -> leftAlone(by) == suspects.size());
    time.advance(settings.lease.plusSeconds(1));
    suspects.forEach(id -> by.hear(Outcome.Kind.FAILED, id, "{}"));
  }

  private static long leftAlone(TestInstance by) {
    return by.waitingFor(WaitsFor.RETRY).count();
  }

  @Test
  void suspects_areHandledOneAtATime_andCountedOnlyThen_besideWhatNobodySuspects()
      throws InterruptedException {
    settings.maxAttempts = 5;
    diesWith(2, ids(20));
    TestInstance a =
        start(
            "a",
            _ -> {
              mayEnd.await();
              return HandlerResult.done();
            });
    List<Sent> suspects = ids(20).stream().map(id -> a.deliver(id, "{}")).toList();
    leftAloneForALease(a, ids(20));
    eventually(() -> calls.size() == 1);
    String first = calls.getFirst().id().text();

    assertThat(ids(20))
        .as("attempts, were the process to die now")
        .allMatch(id -> stored(id).orElseThrow().attempts() == (id.equals(first) ? 3 : 2));
    Sent fresh = a.deliver("fresh", "{}");
    eventually(() -> calls.size() == 2);
    assertThat(calls.getLast().id().text()).isEqualTo("fresh");
    mayEnd.countDown();

    eventually(() -> fresh.isOver() && suspects.stream().allMatch(Sent::isOver));
    assertThat(calls).hasSize(21);
    assertThat(calls.getLast().attempt()).isEqualTo(3);
  }

  @Test
  void suspectsThatQueueLongerThanAHandlerMayTake_areStillHandledOneAtATime()
      throws InterruptedException {
    settings.handlerTimeout = Duration.ofSeconds(50); // less than all six take together
    diesWith(1, ids(6));
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    TestInstance a =
        start(
            "a",
            _ -> {
              most.accumulateAndGet(inside.incrementAndGet(), Math::max);
              try {
                time.advance(Duration.ofSeconds(10));
                Thread.sleep(1000);
              } finally {
                inside.decrementAndGet();
              }
              return HandlerResult.done();
            });

    List<Sent> suspects = ids(6).stream().map(id -> a.deliver(id, "{}")).toList();
    leftAloneForALease(a, ids(6));

    eventually(() -> suspects.stream().allMatch(Sent::isOver));
    assertThat(most).hasValue(1);
    assertThat(calls).hasSize(6).extracting(RecordContext::attempt).containsOnly(2);
  }

  @Test
  void suspectThatHeedsNoInterrupt_givesWayToTheNext_andEndsAsADeadLetter()
      throws InterruptedException {
    settings.lease = SHORT_LEASE;
    settings.handlerTimeout = Duration.ofSeconds(1);
    diesWith(1, List.of("hangs", "next"));
    TestInstance a =
        start(
            "a",
            context -> {
              if (context.id().text().equals("hangs")) {
                awaitThatItMayEnd();
              }
              return HandlerResult.done();
            });
    Sent hangs = begun(a, "hangs");
    Sent next = a.deliver("next", "{}");

    eventually(() -> next.isOver() && hangs.isOver());
    assertThat(stateOf("hangs")).isInstanceOf(ClaimState.Dead.class);
    assertThat(stateOf("next")).isInstanceOf(ClaimState.Done.class);
    eventually(() -> a.state().abandoned() == 2);
    mayEnd.countDown();
    eventually(() -> a.state().abandoned() == 0 && a.limit.isEmpty());
  }

  @Test
  void grantsOfWhichNobodyHeard_areNoAttempts() throws InterruptedException {
    MemoryClaimStore dying = TestInstance.anothers(claims, Duration.ofSeconds(30), time);
    for (int i = 0; i < 10; i++) {
      assertThat(dying.claim(TestInstance.claim("order-1", "{}", time)))
          .isInstanceOf(ClaimResult.Granted.class);
      time.advance(Duration.ofSeconds(31));
    }
    settings.maxAttempts = 1;
    settings.lease = Duration.ofHours(1); // none is renewed because it came late
    TestInstance a = start("a", FlowFixture::done);

    process(a, "order-1");

    assertThat(calls).singleElement().matches(call -> call.attempt() == 2);
    assertThat(a.store.calls(Op.RENEW)).as("it says that it begins").isOne();
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Done.class);
  }

  @Test
  void recordThatKillsItsProcess_isBuriedUnhandled_onceItsAttemptsAreUsedUp()
      throws InterruptedException {
    diesWith(3, List.of("order-1"));
    TestInstance a = start("a", FlowFixture::done);

    process(a, "order-1");
    assertThat(calls).isEmpty();
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Dead.class);
    assertThat(broker.deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(TestBroker.header(letter, "firstclaim-cause"))
                  .isEqualTo("its attempts are used up, and none of them has recorded an end");
              assertThat(TestBroker.header(letter, "firstclaim-attempts")).isEqualTo("3");
            });
    assertThat(a.listener.handled).hasValue(0);
  }

  // --- Attempts that were not the handler's ---

  @Test
  void grantThatCameTooLate_isNoAttempt() throws InterruptedException {
    settings.maxAttempts = 1;
    TestInstance a = start("a", FlowFixture::done);
    Hold hold = a.store.hold(Op.CLAIM);
    Sent sent = a.deliver("order-1", "{}");
    eventually(() -> hold.arrived() == 1);
    time.advance(Duration.ofSeconds(31));

    hold.release();

    eventually(sent::isOver);
    assertThat(calls).singleElement().matches(call -> call.attempt() == 1);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).hasSize(1);
  }

  @Test
  void leaseLostToASilentStore_isNoAttempt() throws InterruptedException {
    settings.maxAttempts = 1;
    CountDownLatch interrupted = new CountDownLatch(1);
    TestInstance a =
        start(
            "a",
            _ -> {
              if (calls.size() == 1) {
                try {
                  new CountDownLatch(1).await();
                } finally {
                  interrupted.countDown();
                }
              }
              return HandlerResult.done();
            });
    a.store.downWhile(Op.RENEW, () -> calls.size() == 1 && interrupted.getCount() > 0);

    Sent sent = begun(a, "order-1");
    eventually(() -> a.store.calls(Op.RENEW) > 0);
    time.advance(Duration.ofSeconds(31));

    eventually(sent::isOver);
    assertThat(calls).hasSize(2).extracting(RecordContext::attempt).containsOnly(1);
  }

  @Test
  void leaseThatIsNotRenewedAndTooShortForItsHandler_isAnAttempt() throws InterruptedException {
    settings.lease = SHORT_LEASE;
    settings.renew = false;
    settings.maxAttempts = 2;
    TestInstance a =
        start(
            "a",
            _ -> {
              mayEnd.await();
              return HandlerResult.done();
            });

    process(a, "order-1");
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Dead.class);
    assertThat(calls).hasSize(2);
  }
}
