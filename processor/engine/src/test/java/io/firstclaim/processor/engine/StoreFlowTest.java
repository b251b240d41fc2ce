package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.testkit.fault.FaultyStore.Fault;
import io.firstclaim.lock.testkit.fault.FaultyStore.Hold;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.api.EngineListener.Claimed;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.flow.Attempts;
import io.firstclaim.processor.engine.flow.Claimer;
import io.firstclaim.processor.engine.testing.LogLines;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What leases that are lost and a store that fails do to records. */
@Isolated(LogLines.WHY_ALONE)
class StoreFlowTest extends FlowFixture {
  // --- Leases ---

  @Test
  void longHandler_keepsItsLease() throws InterruptedException {
    Contested order = contested();
    for (int thirds = 0; thirds < 4; thirds++) {
      untilRenewed(List.of("order-1"));
    }
    assertThat(
            TestInstance.anothers(claims, settings.lease, time)
                .claim(TestInstance.claim("order-1", "{}", time)))
        .isInstanceOf(ClaimResult.Held.class);

    mayEnd.countDown();

    eventually(() -> order.atA().isOver() && order.atB().isOver());
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
    TestInstance b = start("b", FlowFixture::done);
    Hold hold = a.store.hold(Op.RENEW);
    Sent first = begun(a, "order-1");
    time.advance(Duration.ofSeconds(31)); // as if the process had been stopped
    process(b, "order-1");
    hold.release();

    mayEnd.countDown();

    eventually(first::isOver);
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
    Contested order = contested();

    order.a().stop();

    eventually(order.atB()::isOver);
    eventually(order.atA()::hasEnded);
    assertThat(order.atA().isSettled()).isFalse();
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
    Contested order = contested();

    order.a().stop();

    eventually(() -> order.atB().isOver() && order.atA().hasEnded());
    assertThat(calls).extracting(RecordContext::attempt).containsExactly(1, 1);
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED))
        .singleElement()
        .matches(outcome -> outcome.zone().equals("b"));
  }

  // --- The store ---

  @Test
  void claimWhoseAnswerWasLost_isSentAgainAsItWas_andRecognised() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    a.store.next(Op.CLAIM, Fault.LOST_ANSWER);

    process(a, "order-1");
    assertThat(a.store.claims()).hasSize(2);
    assertThat(a.store.claims().stream().distinct()).hasSize(1);
    assertThat(calls).singleElement().matches(call -> call.token() == 1 && call.attempt() == 1);
    assertThat(a.listener.claimed()).containsExactly(Claimed.UNAVAILABLE, Claimed.GRANTED);
  }

  @Test
  void recordWhosePlaceHoldsNoClaim_isTriedAgain_andHoldsUpNoOther() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    a.store.unreadable().add(RecordId.of("order-1"));
    Sent concerned = a.deliver("order-1", "{}");
    eventually(() -> a.listener.claimed().size() >= 2);

    process(a, "order-2");
    assertThat(concerned.isSettled()).isFalse();
    assertThat(a.listener.claimed()).containsOnly(Claimed.UNREADABLE, Claimed.GRANTED);
    assertThat(a.store.calls(Op.FIND)).as("questions whether the store answers").isZero();
    a.store.unreadable().clear();
    eventually(concerned::isOver);
  }

  @Test
  void attemptWhoseEndMeetsWhatIsNoClaim_losesItsLease_onceAndLoudly_andHoldsUpNoOther()
      throws InterruptedException {
    settings.maxAttempts = 10; // or what is taken over is a suspect
    TestInstance a = start("a", this::doneWhenItMay);
    try (LogLines attempts = new LogLines(Attempts.class.getName());
        LogLines claims = new LogLines(Claimer.class.getName())) {
      List<Sent> concerned = List.of(a.deliver("order-1", "{}"), a.deliver("order-2", "{}"));
      eventually(() -> calls.size() == 2);
      a.store.unreadable().add(RecordId.of("order-1"));
      a.store.unreadable().add(RecordId.of("order-2"));
      mayEnd.countDown();
      eventually(
          () -> a.listener.claimed().stream().filter(Claimed.UNREADABLE::equals).count() >= 4);

      Sent other = a.deliver("order-3", "{}");

      eventually(other::isOver);
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
    TestInstance a = start("a", FlowFixture::done);
    a.store.setDown(true);
    Sent sent = a.deliver("order-1", "{}");
    eventually(() -> a.store.calls(Op.CLAIM) >= 1 && !a.gate.isOpen());
    time.advance(Duration.ofSeconds(30));
    eventually(() -> a.store.claims().stream().map(claim -> claim.nonce()).distinct().count() > 1);

    a.store.setDown(false);

    eventually(sent::isOver);
    assertThat(a.store.claims().stream().map(claim -> claim.nonce()).distinct()).hasSize(2);
  }

  @Test
  void whileTheStoreIsUnreachable_noHandlerStarts_andItIsAskedOneAtATime()
      throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    a.store.setDown(true);
    Moment begin = time.now();
    Sent first = a.deliver("order-0", "{}");
    eventually(() -> !a.gate.isOpen());

    List<Sent> more = IntStream.range(1, 200).mapToObj(i -> a.deliver("order-" + i, "{}")).toList();

    int asked = a.store.calls();
    eventually(() -> a.store.calls() >= asked + 2);
    assertThat(calls).isEmpty();
    assertThat(a.store.calls())
        .as("in the end one in two seconds")
        .isLessThan(10 + (int) time.now().since(begin).toSeconds() / 2);
    assertThat(first.isSettled() || more.stream().anyMatch(Sent::isSettled)).isFalse();

    a.store.setDown(false);

    eventually(() -> first.isOver() && more.stream().allMatch(Sent::isOver));
    assertThat(calls).hasSize(200);
    assertThat(a.store.calls(Op.CLAIM)).isLessThan(220);
  }

  /** The store refuses everything, as if a right had been withdrawn. */
  @Test
  void storeThatPermitsNothing_isAnOutage_andEveryRecordGoesOnOnceItPermitsIt()
      throws InterruptedException {
    TestInstance a = start("a", this::doneWhenItMay);
    Sent begun = begun(a, "order-0");
    a.store.setDenies(true);
    mayEnd.countDown();
    eventually(() -> !a.gate.isOpen());
    assertThat(a.gate.fault()).isEqualTo("the role may not COMPLETE");
    Sent later = a.deliver("order-1", "{}");
    int tried = a.store.calls(Op.COMPLETE);
    eventually(() -> a.store.calls(Op.COMPLETE) >= tried + 2);
    assertThat(begun.isSettled() || later.isSettled()).isFalse();

    a.store.setDenies(false);
    eventually(() -> begun.isOver() && later.isOver());
    a.store.next(Op.CLAIM, Fault.DENIED);
    process(a, "order-2");

    assertThat(calls).as("each once").hasSize(3);
    assertThat(a.store.calls(Op.CLAIM)).isEqualTo(4);
  }

  @Test
  void recordThatTheStoreRefusesAgainAndAgain_isTriedLessAndLessOften()
      throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    Fault no = Fault.LOST_REQUEST;
    a.store.next(Op.CLAIM, no, no, no, no);
    long start = System.nanoTime();

    process(a, "order-1");
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
              case COMPLETE -> FlowFixture::done;
              case BURY -> _ -> new HandlerResult.Failed("HTTP 422");
              default -> failing(1);
            });
    Hold hold = a.store.hold(end);

    Sent sent = a.deliver("order-1", "{}");

    eventually(() -> hold.arrived() == 1);
    assertThat(broker.published()).isEmpty();
    assertThat(sent.isSettled()).isFalse();
    hold.release();
    eventually(sent::isOver);
    assertThat(broker.published()).isNotEmpty();
  }

  @Test
  void completionWithoutAnAnswer_isRepeatedUntilThereIsOne() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    a.store.next(Op.COMPLETE, Fault.LOST_ANSWER, Fault.LOST_REQUEST);

    process(a, "order-1");
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

    process(a, "order-1");
    assertThat(calls).hasSize(3);
    assertThat(broker.deadLetters()).hasSize(1);
    assertThat(a.listener.delivered())
        .containsExactly(Delivered.FAILED, Delivered.FAILED, Delivered.DEAD);
  }

  @Test
  void defectOfTheStore_holdsARecordUp_butNotForGood() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    a.store.next(Op.CLAIM, Fault.DEFECT, Fault.ERROR);

    Sent sent = a.deliver("order-1", "{}");

    for (int calls = 1; calls <= 2; calls++) {
      int expected = calls;
      eventually(() -> a.store.calls(Op.CLAIM) >= expected);
      eventually(
          () -> {
            a.hear(Outcome.Kind.COMPLETED, "order-1", "{other}"); // which wakes it early
            return a.store.calls(Op.CLAIM) > expected;
          });
    }
    eventually(sent::isOver);
  }
}
