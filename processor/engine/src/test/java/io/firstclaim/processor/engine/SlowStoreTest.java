package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore.Fault;
import io.firstclaim.lock.testkit.fault.FaultyStore.Hold;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.testing.TestTime;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Records of one zone whose store is slow, or refuses a part of what it is asked. */
class SlowStoreTest {
  private final TestTime time = TestTime.running();
  private final TestBroker broker = new TestBroker();
  private final TestSettings settings = new TestSettings();
  private final Queue<RecordContext> calls = new ConcurrentLinkedQueue<>();
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private TestInstance a;

  @BeforeEach
  void start() throws InterruptedException {
    settings.maxInFlight = 1000;
    a =
        new TestInstance(
            "a",
            settings,
            call -> {
              calls.add(call);
              if (call.id().text().startsWith("long")) {
                mayEnd.await();
              }
              return HandlerResult.done();
            },
            new MemoryClaimStore.Claims(),
            broker,
            time);
  }

  @AfterEach
  void close() {
    mayEnd.countDown();
    a.close();
  }

  private List<Sent> deliver(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> a.deliver(prefix + "-" + i, "{}")).toList();
  }

  /** Lets this much time pass for what must not happen to happen. */
  private static void during(Duration time) throws InterruptedException {
    Thread.sleep(time);
  }

  /** How many tries would be too many by now: in the end it is one in two seconds. */
  private int tooMany(Moment begin) {
    return 12 + (int) time.now().since(begin).minusSeconds(2).toSeconds() / 2;
  }

  @Test
  void coldStartOnABacklog_beginsWithFewRequests_andStillEnds() throws InterruptedException {
    Hold held = a.store.hold(Op.CLAIM);
    List<Sent> backlog = deliver("order", 500);
    eventually(() -> held.arrived() > 0);
    during(Duration.ofMillis(200));

    assertThat(held.arrived()).isLessThanOrEqualTo(4);

    held.release();
    eventually(() -> backlog.stream().allMatch(Sent::isOver));
  }

  /** Half of what it makes the most of is for claims. */
  @Test
  void storeThatMakesTheMostOfTwoWrites_isSentOneClaimAtATime() throws InterruptedException {
    a.store.narrowTo(2);
    Hold held = a.store.hold(Op.CLAIM);
    List<Sent> backlog = deliver("order", 100);
    eventually(() -> held.arrived() > 0);
    during(Duration.ofMillis(200));

    assertThat(held.arrived()).isEqualTo(1);

    held.release();
    eventually(() -> backlog.stream().allMatch(Sent::isOver));
  }

  /** A claim may take several requests, so that it would come too late each time. */
  @Test
  void grantThatComesAfterAThirdOfTheLease_isRenewedBeforeItBegins() {
    Hold held = a.store.hold(Op.CLAIM);
    Sent sent = a.deliver("order-1", "{}");
    eventually(() -> held.arrived() == 1);
    time.advance(settings.lease.dividedBy(3));

    held.release();

    eventually(sent::isOver);
    assertThat(a.store.calls(Op.RENEW)).isOne();
    assertThat(a.store.calls(Op.RELEASE)).isZero();
    assertThat(calls).singleElement().matches(call -> call.attempt() == 1 && call.token() == 1);
  }

  /** Each claim takes three requests here, and each of them a quarter of the lease. */
  @Test
  void grantThatIsOverBeforeItsRenewalIsAnswered_stillBegins() {
    Hold claim = a.store.hold(Op.CLAIM);
    Hold renewal = a.store.hold(Op.RENEW);
    Sent sent = a.deliver("order-1", "{}");
    eventually(() -> claim.arrived() == 1);
    time.advance(settings.lease.multipliedBy(3).dividedBy(4));
    claim.release();
    eventually(() -> renewal.arrived() == 1);
    time.advance(settings.lease.dividedBy(4));

    renewal.release();

    eventually(sent::isOver);
    assertThat(a.store.calls(Op.RELEASE)).isZero();
    assertThat(calls).singleElement().matches(call -> call.attempt() == 1 && call.token() == 1);
  }

  @Test
  void grantThatCannotBeRenewed_isGivenBack_andNotCounted() {
    Hold claim = a.store.hold(Op.CLAIM);
    a.store.downWhile(Op.RENEW, () -> a.store.calls(Op.RELEASE) == 0); // the keeper's, too
    Sent sent = a.deliver("order-1", "{}");
    eventually(() -> claim.arrived() == 1);
    time.advance(settings.lease.dividedBy(3));

    claim.release();

    eventually(sent::isOver);
    assertThat(a.store.calls(Op.RELEASE)).isOne();
    assertThat(calls).singleElement().matches(call -> call.attempt() == 1);
  }

  @Test
  void storeThatRefusesClaimsAlone_isAskedOneAtATime_lessAndLessOften()
      throws InterruptedException {
    CountDownLatch refuses = new CountDownLatch(1);
    a.store.downWhile(Op.CLAIM, () -> refuses.getCount() > 0);
    Moment begin = time.now();
    List<Sent> backlog = deliver("order", 300);
    during(Duration.ofSeconds(2));

    assertThat(a.store.calls(Op.CLAIM)).isLessThan(tooMany(begin));
    assertThat(a.gate.isOpen()).isFalse();
    assertThat(calls).isEmpty();

    refuses.countDown();
    eventually(() -> backlog.stream().allMatch(Sent::isOver));
  }

  @Test
  void storeThatRefusesCompletionsAlone_isAskedForOneAtATime_andNothingElseIsBegun()
      throws InterruptedException {
    CountDownLatch refuses = new CountDownLatch(1);
    a.store.downWhile(Op.COMPLETE, () -> refuses.getCount() > 0);
    Moment begin = time.now();
    Sent first = a.deliver("order", "{}");
    eventually(() -> !a.gate.isOpen());

    List<Sent> backlog = deliver("order", 300);
    during(Duration.ofSeconds(2));

    assertThat(a.store.calls(Op.COMPLETE)).isLessThan(tooMany(begin));
    assertThat(calls).hasSize(1);

    refuses.countDown();
    eventually(() -> first.isOver() && backlog.stream().allMatch(Sent::isOver));
    assertThat(calls).hasSize(301);
  }

  @Test
  void refusedClaims_doNotHoldUpRenewals() throws InterruptedException {
    Sent running = a.deliver("long-1", "{}");
    eventually(() -> calls.size() == 1);
    a.store.downWhile(Op.CLAIM, () -> mayEnd.getCount() > 0);
    Sent refused = a.deliver("order-1", "{}");
    eventually(() -> !a.gate.isOpen());

    time.advance(settings.lease.dividedBy(3).plusMillis(1));

    eventually(() -> a.store.calls(Op.RENEW) > 0);
    mayEnd.countDown();
    eventually(() -> running.isOver() && refused.isOver());
  }

  @Test
  void claimWhoseAnswerIsLost_isFollowedByNoOther_whileThatStepFails() {
    a.store.next(Op.CLAIM, Fault.LOST_ANSWER, Fault.LOST_REQUEST, Fault.LOST_REQUEST);

    List<Sent> all = deliver("order", 50);

    eventually(() -> all.stream().allMatch(Sent::isOver));
    assertThat(calls).hasSize(50);
  }
}
