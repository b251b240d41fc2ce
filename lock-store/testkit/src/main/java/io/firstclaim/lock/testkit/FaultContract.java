package io.firstclaim.lock.testkit;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Done;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.ReleaseResult;
import io.firstclaim.lock.SettleResult.Unknown;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.FaultyRoute.Way;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of a store over a network: the answers that a holder gets when its requests or their
 * answers are lost, doubled or refused on the way. {@code retrying} and {@code notRetrying} are one
 * holder {@code a}, with and without the SDK's own retries; {@code b} has a network of its own that
 * works.
 */
public abstract class FaultContract {
  protected static final Duration LEASE = Duration.ofSeconds(30);
  protected static final Duration MAX_SKEW = Duration.ofSeconds(1);
  protected static final RecordId ID = RecordId.of("order-4711");
  private static final Fault STOPPED = new Fault.HoldLastByte(Duration.ofMinutes(1));
  private static final Fault NO_FAULT = new Fault.DelayRequest(Duration.ZERO);

  protected final ManualTime time = ManualTime.start();
  protected Claimant b;
  private final String namespace = "faults-" + Nonce.random();

  protected abstract FaultProxy proxy();

  /** A store of this holder, in the time of this test. */
  protected abstract ClaimStore store(Way way, ClaimSettings settings);

  /** What messages of faults call the store. */
  protected abstract String name();

  /** The request that claims what is not there. */
  protected abstract Predicate<Request> firstClaim();

  /** The request that claims what is there. */
  protected abstract Predicate<Request> takeover();

  /** The request that renews, completes, releases or buries. */
  protected abstract Predicate<Request> step();

  /** Answers that do not say who has the record. */
  protected abstract List<Fault> refusals();

  /** Those of them that the SDK tries again. */
  protected abstract List<Fault> passingRefusals();

  /** Answers that no retry can mend: the store does not permit it, or is not there. */
  protected abstract List<Fault> denials();

  @BeforeEach
  void countFromHere() {
    b = new Claimant(store(Way.DIRECT, settings("b")), time);
    proxy().reset();
  }

  @AfterEach
  void mend() {
    proxy().clear();
    proxy().restore();
  }

  protected ClaimSettings settings(String holder) {
    return new ClaimSettings(namespace, holder, LEASE, MAX_SKEW, Duration.ofDays(8));
  }

  protected Claimant retrying() {
    return new Claimant(store(Way.RETRYING, settings("a")), time);
  }

  protected Claimant notRetrying() {
    return new Claimant(store(Way.NOT_RETRYING, settings("a")), time);
  }

  private Optional<ClaimRecord> stored() {
    return b.store().find(ID);
  }

  // The answer is lost after the write was applied

  @Test
  void claimWhoseAnswerIsLost_isGranted_byTheSdksOwnRetry() {
    Claimant a = retrying();
    proxy().add(Rule.once(firstClaim(), new Fault.ResetAfterApply()));
    Rule again = proxy().add(Rule.always(firstClaim(), NO_FAULT));

    Lease lease = a.acquire(ID);

    assertThat(again.hits()).as("the SDK sent it again").isEqualTo(1);
    assertThat(lease.token()).isEqualTo(1);
    assertThat(lease.attempt()).isEqualTo(1);
    assertThat(b.heldOff(ID).by()).isEqualTo("a");
    settled(a.store().complete(lease, null));
  }

  @Test
  void claimWhoseAnswerNeverComes_isGranted_byTheSdksOwnRetry() {
    Claimant a = retrying();
    proxy().add(Rule.once(firstClaim(), new Fault.LoseResponse()));

    Lease lease = a.acquire(ID);

    assertThat(lease.attempt()).isEqualTo(1);
    assertThat(stored()).get().extracting(ClaimRecord::token).isEqualTo(1L);
  }

  @Test
  void claimWhoseAnswerIsLost_withoutRetries_isUnavailable_andItsRepetitionGranted() {
    Claimant a = notRetrying();
    Claim claim = a.newClaim(ID);
    proxy().add(Rule.once(firstClaim(), new Fault.ResetAfterApply()));

    assertThatThrownBy(() -> a.store().claim(claim))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageStartingWith(name() + " did not answer claim: ");
    assertThat(b.heldOff(ID).by()).as("it took").isEqualTo("a");

    time.advance(Duration.ofSeconds(1));
    Lease lease = granted(a.store().claim(claim)).lease();
    assertThat(lease.token()).isEqualTo(1);
    assertThat(lease.attempt()).isEqualTo(1);
    assertThat(lease.remaining(time.now()))
        .as("counted from before the first send")
        .isEqualTo(Duration.ofSeconds(26));
  }

  @Test
  void takeoverWhoseAnswerIsLost_isGranted_withOneTokenMore() {
    b.acquire(ID);
    time.advance(Duration.ofHours(1));
    proxy().add(Rule.once(takeover(), new Fault.ResetAfterApply()));

    Lease lease = retrying().acquire(ID);

    assertThat(lease.token()).isEqualTo(2);
    assertThat(stored()).get().extracting(ClaimRecord::token).isEqualTo(2L);
  }

  @ParameterizedTest
  @EnumSource
  void stepWhoseAnswerIsLost_isSettled_byTheSdksOwnRetry(Step step) {
    Claimant a = retrying();
    Lease lease = a.acquire(ID);
    proxy().add(Rule.once(step(), new Fault.ResetAfterApply()));
    Rule again = proxy().add(Rule.always(step(), NO_FAULT));

    settled(step.take(a.store(), lease));

    assertThat(again.hits()).as("the SDK sent it again").isEqualTo(1);
    assertRecordedOnce(lease, step);
  }

  @ParameterizedTest
  @EnumSource
  void stepWhoseAnswerIsLost_withoutRetries_isUnknown_andItsRepetitionSettled(Step step) {
    Claimant a = notRetrying();
    Lease lease = a.acquire(ID);
    proxy().add(Rule.once(step(), new Fault.ResetAfterApply()));

    assertThat(step.take(a.store(), lease))
        .isInstanceOfSatisfying(
            Unknown.class,
            unknown ->
                assertThat(unknown.why())
                    .startsWith(name() + " did not answer ")
                    .doesNotContain("\n"));

    settled(step.take(a.store(), lease));
    assertRecordedOnce(lease, step);
  }

  @ParameterizedTest
  @EnumSource
  void stepAfterARenewalWhoseAnswerIsLost_isSettled(Step step) {
    Claimant a = notRetrying();
    Lease lease = a.acquire(ID);
    proxy().add(Rule.once(step(), new Fault.ResetAfterApply()));
    assertThat(a.store().renew(lease)).isInstanceOf(Unknown.class);

    Lease after = settled(step.take(a.store(), lease));

    assertThat(stored()).get().extracting(ClaimRecord::nonce).isEqualTo(after.nonce());
  }

  @Test
  void requestThatNeverArrived_leavesNothing_andItsRepetitionIsTheFirst() {
    Claimant a = notRetrying();
    Claim claim = a.newClaim(ID);
    proxy().add(Rule.once(firstClaim(), new Fault.Refuse()));
    assertThatThrownBy(() -> a.store().claim(claim)).isInstanceOf(StoreUnavailableException.class);
    assertThat(stored()).isEmpty();

    Lease lease = granted(a.store().claim(claim)).lease();
    proxy().add(Rule.once(step(), new Fault.Refuse()));
    assertThat(a.store().complete(lease, null)).isInstanceOf(Unknown.class);
    assertThat(b.claim(ID)).isInstanceOf(Held.class);

    settled(a.store().complete(lease, null));
    assertThat(b.claim(ID)).isInstanceOf(Done.class);
  }

  @Test
  void claimRepeatedAfterAnotherTookOver_isNotGranted() {
    Claimant a = notRetrying();
    Claim claim = a.newClaim(ID);
    proxy().add(Rule.once(firstClaim(), new Fault.ResetAfterApply()));
    assertThatThrownBy(() -> a.store().claim(claim)).isInstanceOf(StoreUnavailableException.class);
    time.advance(Duration.ofHours(1));
    b.acquire(ID);

    assertThat(a.store().claim(claim)).isInstanceOf(Held.class);
  }

  // An operator's redrive

  private static final RedriveId REDRIVE = new RedriveId("redrive-1");

  @Test
  void redriveWhoseAnswerIsLost_isFreed_byTheSdksOwnRetry() {
    Claimant a = retrying();
    settled(a.store().bury(a.acquire(ID), "poison"));
    proxy().add(Rule.once(step(), new Fault.ResetAfterApply()));

    assertThat(a.operations().redrive(ID, Claimant.PAYLOAD, REDRIVE))
        .isEqualTo(new RedriveResult.Freed(2));
    assertThat(stored()).get().extracting(ClaimRecord::token).isEqualTo(2L);
  }

  @Test
  void redriveWhoseAnswerIsLost_withoutRetries_isUnavailable_andItsRepetitionFindsItFree() {
    Claimant a = notRetrying();
    settled(a.store().bury(a.acquire(ID), "poison"));
    proxy().add(Rule.once(step(), new Fault.ResetAfterApply()));

    assertThatThrownBy(() -> a.operations().redrive(ID, Claimant.PAYLOAD, REDRIVE))
        .isInstanceOf(StoreUnavailableException.class);

    assertThat(a.operations().redrive(ID, Claimant.PAYLOAD, REDRIVE))
        .isInstanceOfSatisfying(
            RedriveResult.FreedBefore.class, before -> assertThat(before.isFree()).isTrue());
    assertThat(stored()).get().extracting(ClaimRecord::token).isEqualTo(2L);
  }

  @Test
  void undoneRedriveWhoseAnswerIsLost_isUndone_byTheSdksOwnRetry() {
    Claimant a = retrying();
    settled(a.store().bury(a.acquire(ID), "poison"));
    assertThat(a.operations().redrive(ID, Claimant.PAYLOAD, REDRIVE))
        .isEqualTo(new RedriveResult.Freed(2));
    proxy().add(Rule.once(step(), new Fault.ResetAfterApply()));
    var end = new ClaimState.Dead("a/one", Instant.parse("2026-01-01T00:00:00Z"), "poison");

    assertThat(a.operations().undoRedrive(ID, REDRIVE, 2, 1, end)).isTrue();
    assertThat(stored()).get().extracting(ClaimRecord::state).isEqualTo(end);
  }

  @Test
  void doubledRedrive_freesItOnce() {
    Claimant a = retrying();
    settled(a.store().bury(a.acquire(ID), "poison"));
    proxy().add(Rule.once(step(), new Fault.Duplicate()));

    assertThat(a.operations().redrive(ID, Claimant.PAYLOAD, REDRIVE))
        .isEqualTo(new RedriveResult.Freed(2));
    assertThat(stored()).get().extracting(ClaimRecord::token).isEqualTo(2L);
  }

  @Test
  void operatorsReleaseWhoseAnswerIsLost_isReleased_byTheSdksOwnRetry() {
    Claimant a = retrying();
    b.acquire(ID);
    proxy().add(Rule.once(step(), new Fault.ResetAfterApply()));

    assertThat(a.operations().release(ID, "why")).isInstanceOf(ReleaseResult.Released.class);
  }

  // The answer begins but does not end

  @Test
  void claimWhoseAnswerStops_isGranted_byTheSdksOwnRetry() {
    Claimant a = retrying();
    proxy().add(Rule.once(firstClaim(), STOPPED));

    Lease lease = a.acquire(ID);

    assertThat(lease.attempt()).isEqualTo(1);
    assertThat(stored()).get().extracting(ClaimRecord::token).isEqualTo(1L);
  }

  /** S3's status says it all; what DynamoDB means is in the body. */
  @Test
  void refusalThatStops_isHeldOrUnavailable_neverAGrant() {
    Claimant a = notRetrying();
    b.acquire(ID);
    proxy().add(Rule.once(firstClaim(), STOPPED));

    Throwable fault = catchThrowable(() -> a.heldOff(ID));

    assertThat(fault)
        .satisfiesAnyOf(
            none -> assertThat(none).isNull(),
            some -> assertThat(some).isInstanceOf(StoreUnavailableException.class));
    assertThat(a.heldOff(ID).by()).isEqualTo("b");
  }

  @ParameterizedTest
  @EnumSource
  void stepWhoseAnswerStops_isSettled_byTheSdksOwnRetry(Step step) {
    Claimant a = retrying();
    Lease lease = a.acquire(ID);
    proxy().add(Rule.once(step(), STOPPED));

    settled(step.take(a.store(), lease));

    assertRecordedOnce(lease, step);
  }

  // Doubled requests

  @Test
  void doubledClaim_isOneGrant() {
    proxy().add(Rule.once(firstClaim(), new Fault.Duplicate()));

    Lease lease = retrying().acquire(ID);

    assertThat(lease.token()).isEqualTo(1);
    assertThat(stored()).get().extracting(ClaimRecord::attempts).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void doubledStep_isRecordedOnce(Step step) {
    Claimant a = retrying();
    Lease lease = a.acquire(ID);
    proxy().add(Rule.once(step(), new Fault.Duplicate()));

    settled(step.take(a.store(), lease));

    assertRecordedOnce(lease, step);
  }

  // The store refuses for a while

  @Test
  void throttledOrFailing_isUnavailableOrUnknown_andRepetitionResolvesIt() {
    for (Fault fault : refusals()) {
      RecordId id = RecordId.of("refused by " + fault);
      Claimant a = notRetrying();
      Claim claim = a.newClaim(id);

      Rule refusing = proxy().add(Rule.always(Match.any(), fault));
      assertThatThrownBy(() -> a.store().claim(claim))
          .as("%s", fault)
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageStartingWith(name() + " did not answer claim: ");
      assertThatThrownBy(() -> a.store().find(id))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageStartingWith(name() + " did not answer find: ");
      proxy().remove(refusing);
      Lease lease = granted(a.store().claim(claim)).lease();
      assertThat(lease.attempt()).isEqualTo(1);

      for (Step step : List.of(Step.RENEW, Step.RELEASE, Step.BURY, Step.COMPLETE)) {
        proxy().add(refusing);
        assertThat(step.take(a.store(), lease)).as("%s", fault).isInstanceOf(Unknown.class);
        proxy().remove(refusing);
      }
      settled(a.store().complete(lease, null));
    }
  }

  @ParameterizedTest
  @EnumSource
  void briefRefusal_isRetriedByTheSdk_andNeverTakenForALostRace(Step step) {
    Claimant a = retrying();
    Lease lease = a.acquire(ID);
    for (Fault fault : passingRefusals()) {
      proxy().add(Rule.once(Match.any(), fault));
      assertThat(a.claim(RecordId.of("claimed despite " + fault)))
          .isInstanceOf(ClaimResult.Granted.class);
    }
    proxy().add(Rule.once(Match.any(), passingRefusals().getFirst()));

    settled(step.take(a.store(), lease));

    assertRecordedOnce(lease, step);
  }

  @Test
  void unreachableStore_isUnavailableOrUnknown_andComesBack() {
    Claimant a = notRetrying();
    Lease lease = a.acquire(ID);
    proxy().cut();

    assertThatThrownBy(() -> a.claim(RecordId.of("other")))
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(a.store().renew(lease)).isInstanceOf(Unknown.class);

    proxy().restore();
    settled(a.store().renew(lease));
  }

  // The store refuses for good

  @Test
  void denial_isAnException_thatSaysWhatIsNeeded_andNoRecordIsLostByIt() {
    for (Fault fault : denials()) {
      RecordId id = RecordId.of("denied by " + fault);
      Claimant a = notRetrying();
      Claim claim = a.newClaim(id);
      useUpBrokenConnections(a);
      Rule denying = proxy().add(Rule.always(Match.any(), fault));
      assertDenied(fault, () -> a.store().claim(claim));
      assertDenied(fault, () -> a.store().find(id));
      proxy().remove(denying);
      Lease lease = granted(a.store().claim(claim)).lease();

      proxy().add(denying);
      for (Step step : Step.values()) {
        assertDenied(fault, () -> step.take(a.store(), lease));
      }
      proxy().remove(denying);
      settled(a.store().complete(lease, null));
    }
  }

  /**
   * Uses up the broken connections that an earlier test has left: a request that is sent again is
   * not surely denied.
   */
  protected static void useUpBrokenConnections(Claimant claimant) {
    for (int i = 0; i < 10; i++) {
      try {
        Optional<ClaimRecord> unused = claimant.store().find(ID);
        return;
      } catch (StoreUnavailableException e) {
        // The next one may be sound.
      }
    }
  }

  private void assertDenied(Fault fault, ThrowingCallable request) {
    assertThatThrownBy(request)
        .as("%s", fault)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageStartingWith(name() + " refuses ")
        .message()
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @EnumSource
  void denialAfterALostAnswer_isUnknown_asTheStepMayBeRecorded(Step step) {
    Claimant a = retrying();
    Lease lease = a.acquire(ID);
    proxy().add(Rule.once(step(), new Fault.ResetAfterApply()));
    proxy().add(Rule.always(step(), denials().getFirst()));

    assertThat(step.take(a.store(), lease)).isInstanceOf(Unknown.class);

    proxy().clear();
    settled(step.take(a.store(), lease));
    assertRecordedOnce(lease, step);
  }

  @Test
  void claimThatIsDeniedAfterALostAnswer_isUnavailable_andItsRepetitionGranted() {
    Claimant a = retrying();
    Claim claim = a.newClaim(ID);
    proxy().add(Rule.once(firstClaim(), new Fault.ResetAfterApply()));
    proxy().add(Rule.always(firstClaim(), denials().getFirst()));

    assertThatThrownBy(() -> a.store().claim(claim)).isInstanceOf(StoreUnavailableException.class);

    proxy().clear();
    assertThat(granted(a.store().claim(claim)).lease().attempt()).isEqualTo(1);
  }

  private void assertRecordedOnce(Lease lease, Step step) {
    ClaimRecord record = stored().orElseThrow();
    assertThat(record.token()).isEqualTo(1);
    assertThat(record.nonce()).as("one write after the grant").isEqualTo(lease.nonce().next());
    Class<? extends ClaimResult> toOthers =
        switch (step) {
          case RENEW -> Held.class;
          case COMPLETE -> Done.class;
          case RELEASE -> ClaimResult.Later.class;
          case BURY -> ClaimResult.Dead.class;
        };
    assertThat(b.claim(ID)).isInstanceOf(toOthers);
  }
}
