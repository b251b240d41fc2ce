package io.firstclaim.lock.testkit;

import static io.firstclaim.lock.testkit.Claimant.PAYLOAD;
import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult.Dead;
import io.firstclaim.lock.ClaimResult.Done;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimResult.Later;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult.Lost;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The part of {@link ClaimStoreContract} about a lease: what its holder can do, and can no longer
 * do once it is lost.
 */
public abstract class StepContract extends TakeoverContract {
  // Renewal

  @Test
  void renewal_extendsTheLease_withSameTokenAndNewNonce() {
    Lease lease = a.acquire(ID);
    time.advance(Duration.ofSeconds(10));

    Lease renewed = settled(a.store().renew(lease));

    assertThat(renewed.withVersion(null))
        .isEqualTo(new Lease(ID, "a", 1, 1, PAYLOAD, lease.nonce().next(), a.time().now(), LEASE));
    time.advance(LEASE.plus(MAX_SKEW));
    assertThat(b.claim(ID)).as("at the new end plus skew").isInstanceOf(Held.class);
    time.advance(tick());
    assertThat(b.claim(ID)).isInstanceOf(Granted.class);
  }

  @Test
  void renewedLease_countsFromBeforeTheRequestIsSent() {
    // Every look at the clock takes a second, as a slow machine or a pause would.
    TimeSource slow =
        () -> {
          Moment now = time.now();
          time.advance(Duration.ofSeconds(1));
          return now;
        };
    Lease lease = a.acquire(ID);
    Moment called = time.now();

    Lease renewed = settled(claimant("a", slow).store().renew(lease));

    assertThat(renewed.start()).isEqualTo(called);
    assertThat(storedState(ClaimState.Held.class).end())
        .as("what others see lasts no shorter than what the holder believes")
        .isAfterOrEqualTo(renewed.start().wall().plus(LEASE));
  }

  @Test
  void overdueLeaseThatNobodyTook_canStillBeRenewedAndCompleted() {
    Lease lease = a.acquire(ID);
    time.advance(HOUR);

    Lease renewed = settled(a.store().renew(lease));
    assertThat(b.claim(ID)).isInstanceOf(Held.class);

    time.advance(HOUR);
    settled(a.store().complete(renewed, null));
  }

  @Test
  void renewalRepeatedWithTheSameLease_isSettled_andCountsFromTheOldStart() {
    Lease lease = a.acquire(ID);
    time.advance(Duration.ofSeconds(5));
    Lease first = settled(a.store().renew(lease));
    Optional<ClaimRecord> before = stored();
    time.advance(Duration.ofSeconds(5));

    Lease repeated = settled(a.store().renew(lease));

    assertThat(repeated.nonce()).isEqualTo(first.nonce());
    assertThat(repeated.start()).as("nobody knows when it was sent").isEqualTo(lease.start());
    assertThat(stored()).isEqualTo(before);
    settled(a.store().renew(repeated));
  }

  @ParameterizedTest
  @EnumSource
  void stepAfterARenewalWhoseAnswerWasLost_isSettled(Step step) {
    Lease lease = a.acquire(ID);
    settled(a.store().renew(lease));

    Lease after = settled(step.take(a.store(), lease));

    assertThat(after.token()).isEqualTo(1);
    assertThat(stored()).get().extracting(ClaimRecord::nonce).isEqualTo(after.nonce());
  }

  @ParameterizedTest
  @EnumSource
  void leaseRenewedTwiceSince_isLost(Step step) {
    Lease old = a.acquire(ID);
    Lease renewed = settled(a.store().renew(settled(a.store().renew(old))));
    Optional<ClaimRecord> before = stored();

    assertThat(step.take(a.store(), old)).isEqualTo(new Lost("a"));
    assertThat(stored()).isEqualTo(before);
    settled(a.store().complete(renewed, null));
  }

  // Zombies

  @ParameterizedTest
  @EnumSource
  void zombiesStep_isLostToTheNewHolder_andChangesNothing(Step step) {
    Lease zombie = a.acquire(ID);
    time.advance(HOUR);
    Lease current = b.acquire(ID);
    Optional<ClaimRecord> before = stored();

    assertThat(step.take(a.store(), zombie)).isEqualTo(new Lost("b"));

    assertThat(stored()).isEqualTo(before);
    settled(b.store().renew(current));
  }

  @ParameterizedTest
  @EnumSource
  void zombiesStep_afterTheNewHolderCompleted_isLost_andChangesNothing(Step step) {
    Lease zombie = a.acquire(ID);
    time.advance(HOUR);
    settled(b.store().complete(b.acquire(ID), "b's"));
    Optional<ClaimRecord> before = stored();

    assertThat(step.take(a.store(), zombie)).isEqualTo(new Lost("b"));
    assertThat(stored()).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource
  void zombiesStep_afterTheNewHolderBuried_isLost_andChangesNothing(Step step) {
    Lease zombie = a.acquire(ID);
    time.advance(HOUR);
    settled(b.store().bury(b.acquire(ID), "poison"));
    Optional<ClaimRecord> before = stored();

    assertThat(step.take(a.store(), zombie)).isEqualTo(new Lost("b"));
    assertThat(stored()).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource
  void zombiesStep_afterTheNewHolderReleased_isLostToNobody_andChangesNothing(Step step) {
    Lease zombie = a.acquire(ID);
    time.advance(HOUR);
    settled(b.store().release(b.acquire(ID), time.now().wall(), "try again"));
    Optional<ClaimRecord> before = stored();

    assertThat(step.take(a.store(), zombie)).isEqualTo(new Lost(null));
    assertThat(stored()).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource
  void leaseOnAnIdTheStoreDoesNotKnow_isLost_andStoresNothing(Step step) {
    var nowhere = new Lease(ID, "a", 1, 1, PAYLOAD, Nonce.random(), time.now(), LEASE);

    assertThat(step.take(a.store(), nowhere)).isEqualTo(new Lost(null));
    assertThat(stored()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void leaseWithTheRightTokenButAnotherNonce_isLost(Step step) {
    Lease lease = a.acquire(ID);
    var forged = new Lease(ID, "a", 1, 1, PAYLOAD, Nonce.random(), lease.start(), LEASE);
    Optional<ClaimRecord> before = stored();

    assertThat(step.take(a.store(), forged)).isEqualTo(new Lost("a"));
    assertThat(stored()).isEqualTo(before);
  }

  /** As after a deletion, which has tokens begin at 1 again. */
  @ParameterizedTest
  @EnumSource(names = {"COMPLETE", "BURY", "RELEASE"})
  void leaseWithTheRightTokenButAnotherNonce_isLost_evenIfTheSameStepEndedIt(Step step) {
    settled(step.take(b.store(), b.acquire(ID)));
    var other = new Lease(ID, "a", 1, 1, PAYLOAD, Nonce.random(), time.now(), LEASE);
    Optional<ClaimRecord> before = stored();

    assertThat(step.take(a.store(), other)).isEqualTo(new Lost(step == Step.RELEASE ? null : "b"));
    assertThat(stored()).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPLETE", "BURY", "RELEASE"})
  void stepRepeated_afterARenewalWhoseAnswerWasLost_isSettledAgain(Step step) {
    Lease lease = a.acquire(ID);
    settled(a.store().renew(lease));
    settled(step.take(a.store(), lease));
    Optional<ClaimRecord> before = stored();

    settled(step.take(a.store(), lease));

    assertThat(stored()).isEqualTo(before);
  }

  // Completion and burial

  @Test
  void completedRecord_isDone_withItsEndingAndResult() {
    b.acquire(ID);
    time.advance(HOUR);
    Lease lease = a.acquire(ID);
    time.advance(Duration.ofSeconds(3));
    Instant at = time.now().wall();

    settled(a.store().complete(lease, "42 items"));

    var done = new Done(new Ending("a", 2, 2, at), "42 items");
    assertThat(b.claim(ID)).isEqualTo(done);
    assertThat(a.claim(ID)).isEqualTo(done);
  }

  @Test
  void completionWithoutResult_isDoneWithoutResult() {
    settled(a.store().complete(a.acquire(ID), null));

    assertThat(b.claim(ID)).isEqualTo(new Done(new Ending("a", 1, 1, time.now().wall()), null));
  }

  @Test
  void attemptThatIsTakenBack_isGrantedAgain_withAHigherToken() {
    for (int token = 1; token <= 3; token++) {
      Lease lease = b.acquire(ID);
      assertThat(lease.attempt()).isEqualTo(1);
      assertThat(lease.token()).isEqualTo(token);
      settled(b.store().release(lease.ofAttempt(0), time.now().wall(), "stopping"));
      time.advance(tick());
    }
  }

  @Test
  void causeOfAnyTextAndLength_isKept_cutAndWellFormed() {
    String half = "\uD83D";
    settled(a.store().bury(a.acquire(ID), "x".repeat(998) + half + "😀" + "y".repeat(5_000)));

    assertThat(storedState(ClaimState.Dead.class).cause())
        .isEqualTo("x".repeat(998) + "?" + "😀" + "…");
  }

  @Test
  void resultThatIsNotWellFormed_isKept_withoutWhatNoStoreCanKeep() {
    settled(a.store().complete(a.acquire(ID), "half: \uDE00"));

    assertThat(storedState(ClaimState.Done.class).result()).isEqualTo("half: ?");
  }

  @Test
  void buriedRecord_isDead_withItsEndingAndCause() {
    settled(a.store().bury(a.acquire(ID), "HTTP 422"));

    assertThat(b.claim(ID))
        .isEqualTo(new Dead(new Ending("a", 1, 1, time.now().wall()), "HTTP 422"));
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPLETE", "BURY", "RELEASE"})
  void stepRepeatedWithTheSameLease_isSettledAgain_andChangesNothing(Step step) {
    Lease lease = a.acquire(ID);
    settled(step.take(a.store(), lease));
    Optional<ClaimRecord> before = stored();
    time.advance(HOUR);

    settled(step.take(a.store(), lease));

    assertThat(stored()).isEqualTo(before);
  }

  @Test
  void completionRepeatedWithAnotherResult_keepsTheFirst() {
    Lease lease = a.acquire(ID);
    settled(a.store().complete(lease, "first"));

    settled(a.store().complete(lease, "second"));

    assertThat(storedState(ClaimState.Done.class).result()).isEqualTo("first");
  }

  @ParameterizedTest
  @EnumSource
  void doneAndDead_areTerminal(Step step) {
    for (Step end : List.of(Step.COMPLETE, Step.BURY)) {
      RecordId id = RecordId.of(end + " then " + step);
      Lease lease = a.acquire(id);
      settled(end.take(a.store(), lease));
      Optional<ClaimRecord> before = a.store().find(id);

      if (step != end) {
        assertThat(step.take(a.store(), lease)).isEqualTo(new Lost("a"));
      }
      time.advance(RETENTION.multipliedBy(2));
      assertThat(b.claim(id))
          .as("what garbage collection has not taken is still what it was")
          .isInstanceOf(end == Step.COMPLETE ? Done.class : Dead.class);
      assertThat(a.store().find(id)).isEqualTo(before);
    }
  }

  @ParameterizedTest
  @EnumSource
  void leaseThatAnEndingAnswered_endsNothingElse(Step step) {
    for (Step end : List.of(Step.COMPLETE, Step.BURY, Step.RELEASE)) {
      if (end == step) {
        continue;
      }
      RecordId id = RecordId.of(end + " then " + step);
      Lease ended = settled(end.take(a.store(), a.acquire(id)));
      Optional<ClaimRecord> before = b.store().find(id);

      assertThat(step.take(a.store(), ended)).isInstanceOf(Lost.class);
      assertThat(b.store().find(id)).isEqualTo(before);
    }
  }

  @ParameterizedTest
  @EnumSource
  void leaseOfAClaimThatIsGrantedTwice_endsWithTheFirstGrant(Step step) {
    Claim claim = a.newClaim(ID);
    Lease first = granted(a.store().claim(claim)).lease();
    time.advance(HOUR);
    settled(b.store().release(b.acquire(ID), b.time().now().wall(), "again"));
    time.advance(tick());
    Lease second = granted(a.store().claim(claim)).lease();
    Optional<ClaimRecord> before = stored();

    assertThat(second.nonce()).isEqualTo(first.nonce());
    assertThat(step.take(a.store(), first)).isInstanceOf(Lost.class);
    assertThat(stored()).isEqualTo(before);
  }

  // Release

  @Test
  void releasedRecord_waitsUntilRetryAt_thenIsGrantedWithTheNextTokenAndAttempt() {
    Instant retryAt = time.now().wall().plusSeconds(7);
    settled(a.store().release(a.acquire(ID), retryAt, "HTTP 503"));

    time.advance(Duration.ofSeconds(7).minus(tick()));
    for (Claimant claimant : List.of(a, b)) {
      assertThat(claimant.claim(ID))
          .isInstanceOfSatisfying(
              Later.class,
              later -> {
                assertThat(later.retryAt()).isBetween(retryAt, retryAt.plus(tick()));
                assertThat(later.attempts()).isEqualTo(1);
              });
    }

    time.advance(tick().multipliedBy(2));
    Granted granted = granted(b.claim(ID));
    assertThat(granted.takenFrom()).isNull();
    assertThat(granted.lease().token()).isEqualTo(2);
    assertThat(granted.lease().attempt()).isEqualTo(2);
  }

  @Test
  void recordReleasedForAPastTime_isGrantedAtOnce() {
    settled(a.store().release(a.acquire(ID), time.now().wall().minus(HOUR), "stopping"));

    assertThat(b.claim(ID)).isInstanceOf(Granted.class);
  }

  @Test
  void recordReleasedAtOnce_byAnyClock_isGrantedAtOnce_toAnyClock() {
    for (Duration skew : List.of(HOUR, HOUR.negated())) {
      Claimant other = claimant("other", time.machine(skew));
      settled(other.store().release(other.acquire(ID), ClaimStore.AT_ONCE, "stopping"));
      assertThat(storedState(ClaimState.Free.class).retryAt()).isEqualTo(ClaimStore.AT_ONCE);

      Granted granted = granted(b.claim(ID));

      assertThat(granted.takenFrom()).isNull();
      settled(b.store().release(granted.lease(), ClaimStore.AT_ONCE, "stopping"));
    }
    assertThat(stored().orElseThrow().token()).isEqualTo(4);
  }

  /** A claim that was sent before the release must not be due after it. */
  @Test
  void recordReleasedForAPastTime_isDueNoEarlierThanItsRelease() {
    Lease lease = a.acquire(ID);
    time.advance(Duration.ofSeconds(5));
    Instant released = time.now().wall();

    settled(a.store().release(lease, released.minus(HOUR), "stopping"));

    assertThat(storedState(ClaimState.Free.class).retryAt()).isEqualTo(released);
  }

  @Test
  void leaseReleased_cannotBeUsedAgain() {
    Lease lease = a.acquire(ID);
    settled(a.store().release(lease, time.now().wall(), "stopping"));
    Optional<ClaimRecord> before = stored();

    assertThat(a.store().renew(lease)).isEqualTo(new Lost(null));
    assertThat(a.store().complete(lease, null)).isEqualTo(new Lost(null));
    assertThat(a.store().bury(lease, "cause")).isEqualTo(new Lost(null));
    assertThat(stored()).isEqualTo(before);
  }
}
