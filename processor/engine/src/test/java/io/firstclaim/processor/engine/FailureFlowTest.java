package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.testkit.fault.FaultyStore.Hold;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.testing.TestRecords;
import io.firstclaim.processor.handler.HandlerResult;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Attempts that fail, and records that cannot be processed. */
class FailureFlowTest extends FlowFixture {
  FailureFlowTest() {
    settings.lease = Duration.ofHours(1); // a grant that comes late is an outcome, too
  }

  // --- Failures ---

  @Test
  void failedAttempt_isAnnounced_andFollowedByAnother() throws InterruptedException {
    TestInstance a = start("a", failing(1));
    Instant begin = time.now().wall();

    process(a, "order-1");
    assertThat(a.listener.delivered()).containsExactly(Delivered.FAILED, Delivered.COMPLETED);
    assertThat(broker.published())
        .extracting(Outcome::kind, Outcome::attempt, Outcome::token, Outcome::cause)
        .containsExactly(
            tuple(Outcome.Kind.FAILED, 1, 1L, "no luck yet"),
            tuple(Outcome.Kind.COMPLETED, 2, 2L, null));
    Outcome failed = broker.published().getFirst();
    assertThat(failed.retryAt()).isBetween(begin, failed.at().plusMillis(20));
  }

  @Test
  void nextAttempt_isNotMadeBeforeItIsDue_inWhicheverZone() throws InterruptedException {
    settings.backoff = Duration.ofMillis(300);
    TestInstance a = start("a", failing(1));
    TestInstance b = start("b", failing(1));
    Sent first = a.deliver("order-1", "{}");
    Sent second = b.deliver("order-1", "{}");

    eventually(() -> first.isOver() && second.isOver());

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
    eventually(sent::isOver);
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

    eventually(sent::isOver);
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Dead.class);
    assertThat(calls).hasSize(3);
    assertThat(broker.deadLetters())
        .singleElement()
        .satisfies(
            letter ->
                assertThat(TestBroker.header(letter, "firstclaim-cause")).isEqualTo("no luck yet"));
  }

  private int failures() {
    return broker.outcomes(Outcome.Kind.FAILED).size();
  }

  @Test
  void recordOfOneAttempt_isNotTriedAgainByTheOther_whileItsDeadLetterIsNotAcknowledged()
      throws InterruptedException {
    settings.maxAttempts = 1;
    broker.refuse(TestBroker.DEAD_LETTERS);
    TestInstance a = start("a", failing(1000));
    TestInstance b = start("b", failing(1000));
    Sent atA = a.deliver("order-1", "{}");
    eventually(() -> failures() > 0);
    a.close();
    eventually(atA::hasEnded);
    int before = failures();
    Sent atB = b.deliver("order-1", "{}");
    eventually(() -> failures() >= before + 2);

    broker.accept(TestBroker.DEAD_LETTERS);

    eventually(atB::isOver);
    assertThat(atA.isSettled()).isFalse();
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Dead.class);
    assertThat(calls).hasSize(1);
    assertThat(broker.deadLetters()).hasSize(1);
  }

  @Test
  void recordOfOneAttempt_isNotTriedAgain_thoughAnErrorMeetsItsDeadLetter()
      throws InterruptedException {
    settings.maxAttempts = 1;
    TestInstance a =
        start(
            "a",
            _ -> {
              broker.failOnce(new OutOfMemoryError("by the test"));
              return HandlerResult.retry("no luck");
            });

    process(a, "order-1");

    assertThat(calls).hasSize(1);
    assertThat(broker.outcomes(Outcome.Kind.FAILED))
        .singleElement()
        .satisfies(
            outcome -> assertThat(outcome.cause()).contains("OutOfMemoryError: by the test"));
    assertLetter("1", "no luck");
  }

  @Test
  void recordThatNeverSucceeds_isNotTriedAgainByTheOther_whileItsDeadLetterIsNotAcknowledged()
      throws InterruptedException {
    broker.refuse(TestBroker.DEAD_LETTERS);
    TestInstance a = start("a", _ -> new HandlerResult.Failed("no such customer"));
    TestInstance b = start("b", _ -> new HandlerResult.Failed("no such customer"));
    Sent atA = a.deliver("order-1", "{}");
    eventually(() -> failures() > 0);
    a.close();
    eventually(atA::hasEnded);
    int before = failures();
    Sent atB = b.deliver("order-1", "{}");
    eventually(() -> failures() >= before + 2);

    broker.accept(TestBroker.DEAD_LETTERS);

    eventually(atB::isOver);
    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Dead.class);
    assertThat(calls).hasSize(1);
    assertThat(broker.deadLetters()).hasSize(1);
  }

  @Test
  void recordThatNeverSucceeds_isNotTriedAgain_thoughItsLeaseWasOverByThen()
      throws InterruptedException {
    TestInstance a =
        start(
            "a",
            _ -> {
              time.advance(settings.lease);
              return new HandlerResult.Failed("no such customer");
            });

    process(a, "order-1");

    assertThat(calls).hasSize(1);
    assertThat(broker.outcomes(Outcome.Kind.DEAD))
        .extracting(Outcome::cause)
        .containsExactly("no such customer");
  }

  @Test
  void letterThatTheOtherWrites_countsNoMoreAttemptsThanThereMayBe_andSaysWhatIsTrueOfAll()
      throws InterruptedException {
    settings.maxAttempts = 1;
    broker.refuse(TestBroker.DEAD_LETTERS);
    TestInstance a = start("a", failing(1000));
    TestInstance b = start("b", failing(1000));
    Sent atA = a.deliver("order-1", "{}");
    eventually(() -> failures() > 0);
    a.close();
    eventually(atA::hasEnded);
    broker.accept(TestBroker.DEAD_LETTERS);

    process(b, "order-1");

    assertLetter("1", "its attempts are used up, and none of them has recorded an end");
  }

  @Test
  void letterThatIsWrittenLate_saysWhatTheAttemptsCameTo_andHowManyThereWere()
      throws InterruptedException {
    broker.refuse(TestBroker.DEAD_LETTERS);
    TestInstance a =
        start(
            "a",
            context ->
                context.attempt() == 1
                    ? HandlerResult.retry("no luck yet")
                    : new HandlerResult.Failed("no such customer"));
    Sent sent = a.deliver("order-1", "{}");
    eventually(() -> broker.outcomes(Outcome.Kind.FAILED).size() >= 4);

    broker.accept(TestBroker.DEAD_LETTERS);

    eventually(sent::isOver);
    assertThat(calls).hasSize(2);
    assertLetter("2", "no such customer");
  }

  private void assertLetter(String attempts, String cause) {
    assertThat(broker.deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(TestBroker.header(letter, "firstclaim-attempts")).isEqualTo(attempts);
              assertThat(TestBroker.header(letter, "firstclaim-cause")).isEqualTo(cause);
            });
  }

  @Test
  void permanentFailure_isADeadLetter_atTheFirstAttempt() throws InterruptedException {
    TestInstance a = start("a", _ -> new HandlerResult.Failed("no such customer"));

    process(a, "order-1");
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

    process(a, "order-1");
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

    eventually(dead::isOver);
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
    settings.handlerTimeout = Duration.ofSeconds(20);
    TestInstance a =
        start("a", context -> context.attempt() == 1 ? doneWhenItMay(context) : done(context));
    Sent sent = begun(a, "order-1");

    time.advance(Duration.ofSeconds(20));

    eventually(sent::isOver);
    assertThat(broker.outcomes(Outcome.Kind.FAILED))
        .singleElement()
        .satisfies(
            outcome -> assertThat(outcome.cause()).isEqualTo("the handler took longer than PT20S"));
    assertThat(a.listener.delivered()).containsExactly(Delivered.FAILED, Delivered.COMPLETED);
  }

  @Test
  void handlerThatHangsAtItsLastAttempt_endsAsADeadLetter() throws InterruptedException {
    settings.handlerTimeout = Duration.ofMillis(50);
    settings.maxAttempts = 2;
    TestInstance a = start("a", this::doneWhenItMay);

    process(a, "order-1");
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

    eventually(sent::isOver);

    assertThat(stateOf("order-1")).isInstanceOf(ClaimState.Dead.class);
    assertThat(calls).hasSize(2);
    assertThat(broker.deadLetters())
        .singleElement()
        .satisfies(
            letter ->
                assertThat(TestBroker.header(letter, "firstclaim-cause"))
                    .isEqualTo("its attempts are used up, and none of them has recorded an end"));
    eventually(sent::hasEnded);
    assertThat(a.limit.inFlight()).isEqualTo(2); // the threads that are still in the handler

    mayEnd.countDown();
    eventually(() -> a.limit.isEmpty() && a.limit.inFlight() == 0);
    assertThat(a.store.calls(Op.COMPLETE)).isZero();
    assertThat(broker.outcomes(Outcome.Kind.COMPLETED)).isEmpty();
  }

  // --- Records that cannot be processed ---

  @Test
  void sameIdWithAnotherPayload_isADeadLetter_onceForEachPayload() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    TestInstance b = start("b", FlowFixture::done);
    Sent original = a.deliver("order-1", "1");
    eventually(original::isOver);

    List<Sent> others = new ArrayList<>();
    for (int copy = 0; copy < 3; copy++) {
      for (TestInstance zone : List.of(a, b)) {
        others.add(zone.deliver("order-1", "22"));
        others.add(zone.deliver("order-1", "333"));
      }
    }

    eventually(() -> others.stream().allMatch(Sent::isOver));
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

    eventually(() -> first.isOver() && second.isOver());
    assertThat(calls).hasSize(1);
    assertThat(broker.deadLetters()).hasSize(1);
  }

  @Test
  void mismatch_isSkipped_ifSoConfigured() throws InterruptedException {
    settings.onMismatch = EngineSettings.OnMismatch.SKIP;
    TestInstance a = start("a", FlowFixture::done);
    Sent original = a.deliver("order-1", "1");
    eventually(original::isOver);

    Sent other = a.deliver("order-1", "22");

    eventually(other::isOver);
    assertThat(broker.deadLetters()).isEmpty();
    assertThat(broker.outcomes(Outcome.Kind.MISMATCH)).hasSize(1);
    assertThat(a.listener.delivered()).containsExactly(Delivered.COMPLETED, Delivered.MISMATCH);
    assertThat(calls).hasSize(1);
  }

  @Test
  void recordWithoutAnId_isADeadLetter_onceOverBothZones() throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    TestInstance b = start("b", FlowFixture::done);

    List<Sent> both =
        Stream.of(a, b).map(zone -> zone.deliver(TestRecords.record(null, "{}", 3, 14))).toList();

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
    TestInstance a = start("a", FlowFixture::done);
    Sent sent = a.deliver(TestRecords.record(null, "{}"));
    eventually(() -> broker.outcomes(Outcome.Kind.FAILED).size() > settings.maxAttempts);

    broker.accept(TestBroker.DEAD_LETTERS);

    eventually(sent::isOver);
    assertThat(TestBroker.header(broker.deadLetters().getFirst(), "firstclaim-cause"))
        .contains("no ID");
  }
}
