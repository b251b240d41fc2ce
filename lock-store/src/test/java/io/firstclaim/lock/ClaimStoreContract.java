package io.firstclaim.lock;

import static io.firstclaim.lock.Claimant.OTHER_PAYLOAD;
import static io.firstclaim.lock.Claimant.PAYLOAD;
import static io.firstclaim.lock.Claimant.granted;
import static io.firstclaim.lock.Claimant.held;
import static io.firstclaim.lock.Claimant.settled;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimResult.Dead;
import io.firstclaim.lock.ClaimResult.Done;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimResult.Later;
import io.firstclaim.lock.ClaimResult.Mismatch;
import io.firstclaim.lock.SettleResult.Lost;
import io.firstclaim.lock.state.ClaimRecord;
import io.firstclaim.lock.state.ClaimState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What every claim store promises; each backend's test inherits it. Holder {@code a} has the right
 * time, {@code b} likewise; further machines are made by the test.
 */
public abstract class ClaimStoreContract {
  protected static final Duration LEASE = Duration.ofSeconds(30);
  protected static final Duration MAX_SKEW = Duration.ofSeconds(1);
  protected static final Duration RETENTION = Duration.ofDays(8);

  private static final Duration MILLISECOND = Duration.ofMillis(1);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final RecordId ID = RecordId.of("order-4711");

  private final String namespace = "contract-" + Nonce.random();
  private final ManualTime time = ManualTime.start();
  private Claimant a;
  private Claimant b;

  /** A store of this holder; all stores that one test asks for share what they keep. */
  protected abstract ClaimStore store(ClaimSettings settings, TimeSource time);

  @BeforeEach
  void twoClaimants() {
    a = claimant("a", time);
    b = claimant("b", time.machine(Duration.ZERO));
  }

  private Claimant claimant(String holder, TimeSource machine) {
    return claimant(namespace, holder, machine);
  }

  private Claimant claimant(String space, String holder, TimeSource machine) {
    var settings = new ClaimSettings(space, holder, LEASE, MAX_SKEW, RETENTION);
    return new Claimant(store(settings, machine), machine);
  }

  private Optional<ClaimRecord> stored() {
    return b.store().find(ID);
  }

  // First claim

  @Test
  void firstClaim_isGranted_withToken1AndAttempt1() {
    Claim claim = a.newClaim(ID);

    Granted granted = granted(a.store().claim(claim));

    assertThat(granted.takenFrom()).isNull();
    assertThat(granted.lease())
        .isEqualTo(new Lease(ID, "a", 1, 1, PAYLOAD, claim.nonce(), claim.start(), LEASE));
  }

  @Test
  void grantedLease_countsFromTheClaimsStart_howeverLateItIsSent() {
    Claim claim = a.newClaim(ID);
    time.advance(Duration.ofSeconds(4));

    Lease lease = granted(a.store().claim(claim)).lease();

    assertThat(lease.remaining(a.time().now())).isEqualTo(Duration.ofSeconds(26));
    assertThat(storedState(ClaimState.Held.class).end())
        .as("what others see lasts at least as long")
        .isEqualTo(time.now().wall().plus(LEASE));
  }

  @Test
  void claimWithoutPayload_isGranted() {
    var noPayload = Claim.of(ID, Fingerprint.none(), time.now());

    assertThat(a.store().claim(noPayload)).isInstanceOf(Granted.class);
    assertThat(stored()).get().extracting(ClaimRecord::fingerprint).isEqualTo(Fingerprint.none());
  }

  // Held by somebody

  @Test
  void secondClaim_isHeld_withHolderTokenRemainingAndSighting() {
    Lease lease = a.acquire(ID);
    time.advance(Duration.ofSeconds(10));

    Held held = b.heldOff(ID);

    assertThat(held.by()).isEqualTo("a");
    assertThat(held.token()).isEqualTo(1);
    assertThat(held.remaining())
        .as("the 20 s left, the skew bound, and just past it")
        .isEqualTo(Duration.ofSeconds(21).plusNanos(1));
    assertThat(held.sighting()).isEqualTo(new Sighting(1, lease.nonce(), b.time().now(), LEASE));
  }

  @Test
  void holdersOwnSecondClaim_isHeldToo() {
    a.acquire(ID);

    assertThat(a.heldOff(ID).by()).isEqualTo("a");
  }

  @Test
  void sightingOfAnUnchangedLease_isKept_andRemainingShrinks() {
    a.acquire(ID);
    Held first = b.heldOff(ID);
    time.advance(Duration.ofSeconds(10));

    Held second = held(b.claimAfter(first, ID));

    assertThat(second.sighting()).isEqualTo(first.sighting());
    assertThat(second.remaining()).isEqualTo(Duration.ofSeconds(20));
  }

  // Takeover by the wall clock

  @Test
  void expiredLease_isTakenOver_withHigherToken() {
    a.acquire(ID);
    time.advance(LEASE.plus(MAX_SKEW).plus(MILLISECOND));

    Granted granted = granted(b.claim(ID));

    assertThat(granted.takenFrom()).isEqualTo("a");
    assertThat(granted.lease().token()).isEqualTo(2);
    assertThat(granted.lease().attempt()).isEqualTo(2);
    assertThat(granted.lease().holder()).isEqualTo("b");
  }

  @Test
  void leaseAtItsEndPlusMaxSkew_isStillHeld_oneMillisecondLaterItIsOver() {
    a.acquire(ID);
    time.advance(LEASE.plus(MAX_SKEW));

    Held held = b.heldOff(ID);
    assertThat(held.remaining()).isEqualTo(Duration.ofNanos(1));

    time.advance(MILLISECOND);
    assertThat(b.claim(ID)).isInstanceOf(Granted.class);
  }

  @Test
  void waiterWhoseClockIsAheadByMaxSkew_doesNotTakeOverBeforeTheTrueEnd() {
    Claimant ahead = claimant("ahead", time.machine(MAX_SKEW));
    Lease lease = a.acquire(ID);
    time.advance(LEASE);

    assertThat(lease.isOver(a.time().now())).isTrue();
    assertThat(ahead.claim(ID)).isInstanceOf(Held.class);

    time.advance(MILLISECOND);
    assertThat(ahead.claim(ID)).isInstanceOf(Granted.class);
  }

  @Test
  void waiterWhoseClockIsBehindByMaxSkew_takesOverTwoSkewsAfterTheEnd() {
    Claimant behind = claimant("behind", time.machine(MAX_SKEW.negated()));
    a.acquire(ID);
    time.advance(LEASE.plus(MAX_SKEW).plus(MAX_SKEW));

    assertThat(behind.claim(ID)).isInstanceOf(Held.class);

    time.advance(MILLISECOND);
    assertThat(behind.claim(ID)).isInstanceOf(Granted.class);
  }

  @Test
  void ownExpiredLease_isTakenOver_asAnybodyElses() {
    a.acquire(ID);
    time.advance(LEASE.plus(MAX_SKEW).plus(MILLISECOND));

    Granted granted = granted(a.claim(ID));

    assertThat(granted.lease().token()).isEqualTo(2);
    assertThat(granted.takenFrom()).isEqualTo("a");
  }

  @Test
  void tokenAndAttempts_riseByOneWithEveryGrant_overTakeoversAndReleases() {
    for (int grant = 1; grant <= 6; grant++) {
      Claimant next = grant % 2 == 0 ? a : b;
      Lease lease = next.acquire(ID);
      assertThat(lease.token()).isEqualTo(grant);
      assertThat(lease.attempt()).isEqualTo(grant);
      if (grant % 3 == 0) {
        settled(next.store().release(lease, time.now().wall(), "try again"));
      } else {
        time.advance(LEASE.multipliedBy(2));
      }
    }
  }

  // Takeover by observation

  @Test
  void holderAnHourAhead_isTakenOver_onceWatchedUnchangedForAWholeLease() {
    Claimant ahead = claimant("ahead", time.machine(HOUR));
    ahead.acquire(ID);
    Held seen = b.heldOff(ID);
    assertThat(seen.remaining()).isEqualTo(LEASE);

    time.advance(LEASE.minus(MILLISECOND));
    Held stillSeen = held(b.claimAfter(seen, ID));
    assertThat(stillSeen.remaining()).isEqualTo(MILLISECOND);

    time.advance(MILLISECOND);
    Granted granted = granted(b.claimAfter(stillSeen, ID));
    assertThat(granted.takenFrom()).isEqualTo("ahead");
    assertThat(granted.lease().token()).isEqualTo(2);
  }

  @Test
  void holderAnHourAhead_thatRenews_isNotTakenOver() {
    Claimant ahead = claimant("ahead", time.machine(HOUR));
    Lease lease = ahead.acquire(ID);
    Held seen = b.heldOff(ID);
    time.advance(Duration.ofSeconds(20));
    Lease renewed = settled(ahead.store().renew(lease));
    time.advance(Duration.ofSeconds(10));

    Held seenAgain = held(b.claimAfter(seen, ID));

    assertThat(seenAgain.sighting().nonce()).isEqualTo(renewed.nonce());
    assertThat(seenAgain.sighting().firstSeen()).isEqualTo(b.time().now());
    time.advance(LEASE.minus(MILLISECOND));
    assertThat(b.claimAfter(seenAgain, ID)).isInstanceOf(Held.class);
    time.advance(MILLISECOND);
    assertThat(b.claimAfter(seenAgain, ID)).isInstanceOf(Granted.class);
  }

  @Test
  void holderAnHourAhead_whoWasNotWatched_isHeldForTheHour() {
    Claimant ahead = claimant("ahead", time.machine(HOUR));
    ahead.acquire(ID);
    time.advance(HOUR.plus(LEASE).plus(MAX_SKEW));

    Held held = b.heldOff(ID);

    assertThat(held.remaining()).isEqualTo(Duration.ofNanos(1));
    time.advance(MILLISECOND);
    assertThat(b.claim(ID)).isInstanceOf(Granted.class);
  }

  @Test
  void sightingOfAnotherTokenOrNonce_isNoEvidence() {
    Claimant ahead = claimant("ahead", time.machine(HOUR));
    Lease lease = ahead.acquire(ID);
    Moment longAgo = b.time().now();
    time.advance(LEASE.multipliedBy(2));
    var otherNonce = new Sighting(lease.token(), lease.nonce().next(), longAgo, LEASE);
    var otherToken = new Sighting(lease.token() + 1, lease.nonce(), longAgo, LEASE);

    for (Sighting sighting : List.of(otherNonce, otherToken)) {
      Claim claim = new Claim(ID, PAYLOAD, Nonce.random(), b.time().now(), sighting);
      Held held = held(b.store().claim(claim));
      assertThat(held.sighting().firstSeen()).isEqualTo(b.time().now());
    }
  }

  @Test
  void watchedLeaseOfAnotherLength_isRespectedForItsOwnLength() {
    var longer = new ClaimSettings(namespace, "long", LEASE.multipliedBy(3), MAX_SKEW, RETENTION);
    var ahead = time.machine(HOUR);
    new Claimant(store(longer, ahead), ahead).acquire(ID);

    Held seen = b.heldOff(ID);

    assertThat(seen.remaining()).isEqualTo(Duration.ofSeconds(90));
    time.advance(Duration.ofSeconds(90).minus(MILLISECOND));
    assertThat(b.claimAfter(seen, ID)).isInstanceOf(Held.class);
    time.advance(MILLISECOND);
    assertThat(b.claimAfter(seen, ID)).isInstanceOf(Granted.class);
  }

  @Test
  void watchedLeaseOfAnotherPayload_isAMismatch() {
    Claimant ahead = claimant("ahead", time.machine(HOUR));
    ahead.acquire(ID);
    Held seen = b.heldOff(ID);
    time.advance(LEASE);

    var claim = new Claim(ID, OTHER_PAYLOAD, Nonce.random(), b.time().now(), seen.sighting());

    assertThat(b.store().claim(claim)).isEqualTo(new Mismatch(PAYLOAD));
  }

  /** Beyond the declared bound two may run at once; the token still lets only one complete. */
  @Test
  void holderAnHourBehind_isTakenOverAtOnce_andCanCompleteNothing() {
    Claimant behind = claimant("behind", time.machine(HOUR.negated()));
    Lease stale = behind.acquire(ID);

    Lease lease = b.acquire(ID);

    assertThat(lease.token()).isEqualTo(2);
    assertThat(behind.store().complete(stale, null)).isEqualTo(new Lost("b"));
    assertThat(b.store().complete(lease, null)).isInstanceOf(SettleResult.Settled.class);
  }

  @Test
  void wallClockSetBackWhileHolding_keepsTheHoldersOwnDeadline() {
    var machine = time.machine(Duration.ZERO);
    Lease lease = claimant("stepped", machine).acquire(ID);
    time.advance(LEASE.minus(MILLISECOND));
    machine.setSkew(HOUR.negated());

    assertThat(lease.remaining(machine.now())).isEqualTo(MILLISECOND);
    time.advance(MILLISECOND);
    assertThat(lease.isOver(machine.now())).isTrue();
  }

  // Renewal

  @Test
  void renewal_extendsTheLease_withSameTokenAndNewNonce() {
    Lease lease = a.acquire(ID);
    time.advance(Duration.ofSeconds(10));

    Lease renewed = settled(a.store().renew(lease));

    assertThat(renewed)
        .isEqualTo(new Lease(ID, "a", 1, 1, PAYLOAD, lease.nonce().next(), a.time().now(), LEASE));
    time.advance(LEASE.plus(MAX_SKEW));
    assertThat(b.claim(ID)).as("at the new end plus skew").isInstanceOf(Held.class);
    time.advance(MILLISECOND);
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

  // Release

  @Test
  void releasedRecord_waitsUntilRetryAt_thenIsGrantedWithTheNextTokenAndAttempt() {
    Instant retryAt = time.now().wall().plusSeconds(7);
    settled(a.store().release(a.acquire(ID), retryAt, "HTTP 503"));

    time.advance(Duration.ofSeconds(7).minus(MILLISECOND));
    assertThat(b.claim(ID)).isEqualTo(new Later(retryAt, 1));
    assertThat(a.claim(ID)).isEqualTo(new Later(retryAt, 1));

    time.advance(MILLISECOND);
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

  // Payload

  @Test
  void otherPayload_isAMismatch_inEveryState() {
    Lease lease = a.acquire(ID);
    assertMismatch(ID);
    time.advance(HOUR);
    assertMismatch(ID);
    settled(a.store().release(lease, time.now().wall(), "try again"));
    assertMismatch(ID);
    settled(a.store().complete(a.acquire(ID), null));
    assertMismatch(ID);

    RecordId buried = RecordId.of("buried");
    settled(a.store().bury(a.acquire(buried), "cause"));
    assertMismatch(buried);
  }

  private void assertMismatch(RecordId id) {
    Optional<ClaimRecord> before = b.store().find(id);
    assertThat(b.store().claim(Claim.of(id, OTHER_PAYLOAD, time.now())))
        .isEqualTo(new Mismatch(PAYLOAD));
    assertThat(b.store().claim(Claim.of(id, Fingerprint.none(), time.now())))
        .isEqualTo(new Mismatch(PAYLOAD));
    assertThat(b.store().find(id)).isEqualTo(before);
  }

  // Repeated and delayed requests

  @Test
  void sameClaimSentTwice_isGrantedTwice_asOneAttempt() {
    Claim claim = a.newClaim(ID);
    Lease first = granted(a.store().claim(claim)).lease();
    time.advance(Duration.ofSeconds(10));

    Granted second = granted(a.store().claim(claim));

    assertThat(second.lease()).isEqualTo(first);
    assertThat(second.takenFrom()).isNull();
    assertThat(stored()).get().extracting(ClaimRecord::attempts).isEqualTo(1);
  }

  @Test
  void sameClaimSentAgain_afterItsLeaseIsOver_isStillTheSameGrant() {
    Claim claim = a.newClaim(ID);
    Lease first = granted(a.store().claim(claim)).lease();
    Optional<ClaimRecord> before = stored();
    time.advance(HOUR);

    Lease again = granted(a.store().claim(claim)).lease();

    assertThat(again).isEqualTo(first);
    assertThat(again.isOver(a.time().now())).isTrue();
    assertThat(stored()).isEqualTo(before);
  }

  @Test
  void oldClaim_doesNotChangeWhatCameAfter() {
    Claim old = a.newClaim(ID);
    Lease lease = granted(a.store().claim(old)).lease();
    lease = settled(a.store().renew(lease));
    assertUnchangedBy(old, Held.class);

    settled(a.store().release(lease, time.now().wall().plusSeconds(5), "try again"));
    assertUnchangedBy(old, Later.class);

    time.advance(Duration.ofSeconds(5));
    Lease next = b.acquire(ID);
    assertUnchangedBy(old, Held.class);

    settled(b.store().complete(next, null));
    assertUnchangedBy(old, Done.class);
  }

  private void assertUnchangedBy(Claim old, Class<? extends ClaimResult> answer) {
    Optional<ClaimRecord> before = stored();
    assertThat(a.store().claim(old)).isInstanceOf(answer);
    assertThat(stored()).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource
  void oldStep_doesNotChangeTheNextGrantOfTheSameHolder(Step step) {
    Lease old = a.acquire(ID);
    settled(a.store().release(old, time.now().wall(), "try again"));
    a.acquire(ID);
    Optional<ClaimRecord> before = stored();

    assertThat(step.take(a.store(), old)).isEqualTo(new Lost("a"));
    assertThat(stored()).isEqualTo(before);
  }

  @Test
  void everyWrite_hasANonceOfItsOwn() {
    List<Nonce> nonces = new ArrayList<>();
    Lease lease = a.acquire(ID);
    nonces.add(storedNonce());
    lease = settled(a.store().renew(lease));
    nonces.add(storedNonce());
    lease = settled(a.store().renew(lease));
    nonces.add(storedNonce());
    settled(a.store().release(lease, time.now().wall(), "try again"));
    nonces.add(storedNonce());
    lease = a.acquire(ID);
    nonces.add(storedNonce());
    settled(a.store().complete(lease, null));
    nonces.add(storedNonce());

    assertThat(nonces).doesNotHaveDuplicates();
  }

  // Two processes under one name

  @Test
  void twoProcessesWithOneName_areNotTakenForEachOther() {
    Claimant twin = claimant("a", time.machine(Duration.ZERO));
    Lease lease = a.acquire(ID);

    assertThat(twin.claim(ID)).isInstanceOf(Held.class);
    time.advance(HOUR);
    Lease taken = twin.acquire(ID);
    assertThat(taken.token()).isEqualTo(2);
    for (Step step : Step.values()) {
      assertThat(step.take(a.store(), lease)).isEqualTo(new Lost("a"));
    }
    settled(twin.store().complete(taken, null));
    assertThat(a.store().complete(lease, null)).isEqualTo(new Lost("a"));
  }

  // Races

  private record Grant(RecordId id, long token) {}

  @Test
  void manyClaimantsAtOnce_oneGrantPerIdAndToken() throws Exception {
    List<Claimant> claimants =
        IntStream.range(0, 4)
            .mapToObj(i -> claimant("racer-" + i, time.machine(Duration.ZERO)))
            .toList();
    List<RecordId> ids = IntStream.range(0, 200).mapToObj(i -> RecordId.of("raced-" + i)).toList();

    assertThat(raceFor(ids, claimants)).containsExactlyInAnyOrderElementsOf(onceEach(ids, 1));

    time.advance(HOUR);
    List<RecordId> expired = ids.subList(0, 50);
    assertThat(raceFor(expired, claimants))
        .as("takeover of expired leases")
        .containsExactlyInAnyOrderElementsOf(onceEach(expired, 2));
  }

  private static List<Grant> onceEach(List<RecordId> ids, long token) {
    return ids.stream().map(id -> new Grant(id, token)).toList();
  }

  private static Queue<Grant> raceFor(List<RecordId> ids, List<Claimant> claimants)
      throws Exception {
    Queue<Grant> grants = new ConcurrentLinkedQueue<>();
    concurrently(
        32,
        racer -> {
          List<RecordId> order = new ArrayList<>(ids);
          Collections.shuffle(order, new Random(racer / 8)); // eight run through in one order
          Claimant claimant = claimants.get(racer % claimants.size());
          for (RecordId id : order) {
            if (claimant.claim(id) instanceof Granted(Lease lease, _)) {
              grants.add(new Grant(id, lease.token()));
            }
          }
          return order.size();
        });
    return grants;
  }

  @Test
  void manyStepsOfOneLeaseAtOnce_endItOnce() throws Exception {
    for (int round = 0; round < 10; round++) {
      RecordId id = RecordId.of("ended-" + round);
      Lease lease = a.acquire(id);

      List<SettleResult> results =
          concurrently(8, i -> (i % 2 == 0 ? Step.COMPLETE : Step.BURY).take(a.store(), lease));

      Map<Boolean, Long> settled =
          IntStream.range(0, 8)
              .filter(i -> results.get(i) instanceof SettleResult.Settled)
              .boxed()
              .collect(groupingBy(i -> i % 2 == 0, counting()));
      assertThat(settled)
          .as("all completions settled and all burials lost, or the reverse")
          .hasSize(1)
          .containsValue(4L);
    }
  }

  private interface Racer<T> {
    T run(int number) throws Exception;
  }

  private static <T> List<T> concurrently(int count, Racer<T> racer) throws Exception {
    var start = new CountDownLatch(1);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<T>> running = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int number = i;
        Callable<T> task =
            () -> {
              start.await();
              return racer.run(number);
            };
        running.add(threads.submit(task));
      }
      start.countDown();
      List<T> results = new ArrayList<>();
      for (Future<T> one : running) {
        results.add(one.get());
      }
      return results;
    }
  }

  // Hostile IDs

  @Test
  void hostileIds_areDistinct_andFoundAgain() {
    byte[] longest = new byte[RecordId.MAX_BYTES];
    Arrays.fill(longest, (byte) 0xff);
    byte[] almostLongest = longest.clone();
    almostLongest[RecordId.MAX_BYTES - 1] = (byte) 0xfe;
    List<RecordId> ids =
        List.of(
            RecordId.of(new byte[] {0}),
            RecordId.of(new byte[] {0, 0}),
            RecordId.of("../../etc/passwd"),
            RecordId.of("..%2f..%2fetc/passwd"),
            RecordId.of("a\r\nb: c"),
            RecordId.of("a%0D%0Ab: c"),
            RecordId.of("a\nb: c"),
            RecordId.of(new byte[] {(byte) 0xc3}),
            RecordId.of(new byte[] {(byte) 0xc4}),
            RecordId.of(new byte[] {(byte) 0xc0, (byte) 0xaf}),
            RecordId.of("/"),
            RecordId.of("\ufffd"),
            RecordId.of("\u00e9"),
            RecordId.of("e\u0301"),
            RecordId.of("A"),
            RecordId.of("a"),
            RecordId.of("a "),
            RecordId.of(" "),
            RecordId.of("pk = :x OR attribute_exists(pk)"),
            RecordId.of("\ud83d\udca3"),
            RecordId.of(longest),
            RecordId.of(almostLongest));

    for (int i = 0; i < ids.size(); i++) {
      Lease lease = a.acquire(ids.get(i));
      assertThat(lease.token()).as("%s is new", ids.get(i)).isEqualTo(1);
      settled(a.store().complete(lease, "result " + i));
    }

    for (int i = 0; i < ids.size(); i++) {
      assertThat(b.claim(ids.get(i)))
          .isInstanceOfSatisfying(
              Done.class, done -> assertThat(done.result()).startsWith("result "))
          .extracting(result -> ((Done) result).result())
          .isEqualTo("result " + i);
      assertThat(b.store().find(ids.get(i))).isPresent();
    }
  }

  @Test
  void hostileTexts_areStoredAsTheyAre() {
    String hostile = "a\u0000b\r\n\"'\\${x} \u202e \ud83d\udca3 </script>";
    settled(a.store().complete(a.acquire(ID), hostile));
    assertThat(storedState(ClaimState.Done.class).result()).isEqualTo(hostile);

    RecordId other = RecordId.of("other");
    settled(a.store().bury(a.acquire(other), ""));
    assertThat(((Dead) b.claim(other)).cause()).isEmpty();
  }

  // Namespaces

  @Test
  void namespaces_areSeparate() {
    Claimant elsewhere = claimant(namespace + "-2", "c", time);
    settled(a.store().complete(a.acquire(ID), "here"));

    assertThat(elsewhere.store().find(ID)).isEmpty();
    Lease lease = elsewhere.acquire(ID);

    assertThat(lease.token()).isEqualTo(1);
    settled(elsewhere.store().bury(lease, "there"));
    assertThat(b.claim(ID)).isInstanceOf(Done.class);
  }

  // Find

  @Test
  void find_showsWhatIsStored_inEveryState() {
    Instant now = time.now().wall();
    assertThat(stored()).isEmpty();

    Lease lease = a.acquire(ID);
    assertThat(stored())
        .contains(
            new ClaimRecord(
                1, 1, lease.nonce(), PAYLOAD, new ClaimState.Held("a", LEASE, now.plus(LEASE))));

    lease = settled(a.store().release(lease, now.plusSeconds(5), "HTTP 503"));
    assertThat(stored())
        .contains(
            new ClaimRecord(
                1, 1, lease.nonce(), PAYLOAD, new ClaimState.Free(now.plusSeconds(5), "HTTP 503")));

    time.advance(Duration.ofSeconds(5));
    lease = settled(b.store().complete(b.acquire(ID), "done"));
    assertThat(stored())
        .contains(
            new ClaimRecord(
                2,
                2,
                lease.nonce(),
                PAYLOAD,
                new ClaimState.Done("b", now.plusSeconds(5), "done")));

    RecordId buried = RecordId.of("buried");
    lease = settled(a.store().bury(a.acquire(buried), "poison"));
    assertThat(a.store().find(buried))
        .contains(
            new ClaimRecord(
                1,
                1,
                lease.nonce(),
                PAYLOAD,
                new ClaimState.Dead("a", now.plusSeconds(5), "poison")));
  }

  @Test
  void find_changesNothing() {
    RecordId unknown = RecordId.of("unknown".getBytes(StandardCharsets.UTF_8));
    assertThat(a.store().find(unknown)).isEmpty();
    assertThat(a.store().find(unknown)).isEmpty();
    assertThat(a.acquire(unknown).token()).isEqualTo(1);
  }

  private Nonce storedNonce() {
    return stored().orElseThrow().nonce();
  }

  private <S extends ClaimState> S storedState(Class<S> kind) {
    ClaimState state = stored().orElseThrow().state();
    return Optional.of(state).filter(kind::isInstance).map(kind::cast).orElseThrow();
  }
}
