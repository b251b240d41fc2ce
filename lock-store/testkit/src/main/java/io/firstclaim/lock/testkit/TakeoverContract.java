package io.firstclaim.lock.testkit;

import static io.firstclaim.lock.testkit.Claimant.OTHER_PAYLOAD;
import static io.firstclaim.lock.testkit.Claimant.PAYLOAD;
import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.held;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimResult.Mismatch;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.Sighting;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The part of {@link ClaimStoreContract} about time: how long a lease keeps others out, and from
 * when it can be taken over.
 */
public abstract class TakeoverContract extends ContractFixture {
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
        .isBetween(Duration.ofSeconds(21).plusNanos(1), Duration.ofSeconds(21).plus(tick()));
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
    assertThat(second.remaining())
        .isBetween(Duration.ofSeconds(21).plusNanos(1), Duration.ofSeconds(21).plus(tick()));
  }

  /** The holder may have renewed while the claim was on its way. */
  @Test
  void sighting_countsFromAfterTheClaimWasSent() {
    a.acquire(ID);
    // Every look at the clock takes a second, as a slow network or a pause would.
    TimeSource slow =
        () -> {
          Moment now = time.now();
          time.advance(Duration.ofSeconds(1));
          return now;
        };
    Claim claim = Claim.of(ID, PAYLOAD, time.now());

    Held held = held(claimant("slow", slow).store().claim(claim));

    assertThat(held.sighting().firstSeen().since(claim.start())).isPositive();
  }

  // Takeover by the clock

  @Test
  void expiredLease_isTakenOver_withHigherToken() {
    a.acquire(ID);
    time.advance(LEASE.plus(MAX_SKEW).plus(tick()));

    Granted granted = granted(b.claim(ID));

    assertThat(granted.takenFrom()).isEqualTo("a");
    assertThat(granted.lease().token()).isEqualTo(2);
    assertThat(granted.lease().attempt()).isEqualTo(2);
    assertThat(granted.lease().holder()).isEqualTo("b");
  }

  @Test
  void leaseAtItsEndPlusMaxSkew_isStillHeld_oneTickLaterItIsOver() {
    a.acquire(ID);
    time.advance(LEASE.plus(MAX_SKEW));

    Held held = b.heldOff(ID);
    assertThat(held.remaining()).isBetween(Duration.ofNanos(1), tick());

    time.advance(tick());
    assertThat(b.claim(ID)).isInstanceOf(Granted.class);
  }

  @Test
  void ownExpiredLease_isTakenOver_asAnybodyElses() {
    a.acquire(ID);
    time.advance(LEASE.plus(MAX_SKEW).plus(tick()));

    Granted granted = granted(a.claim(ID));

    assertThat(granted.lease().token()).isEqualTo(2);
    assertThat(granted.takenFrom()).isEqualTo("a");
  }

  @Test
  void tokenRisesWithEveryGrant_andAttemptsWithTheFirstAndThoseThatBegin() {
    int attempts = 0;
    for (int grant = 1; grant <= 8; grant++) {
      Claimant next = grant % 2 == 0 ? a : b;
      Lease lease = next.acquire(ID);
      assertThat(lease.token()).isEqualTo(grant);
      assertThat(lease.attempt()).isEqualTo(attempts + 1);
      assertThat(lease.counted()).isEqualTo(grant == 1);
      if (grant % 4 == 0) {
        lease = settled(next.store().renew(lease.counted(true)));
      }
      if (grant == 1 || grant % 4 == 0) {
        attempts++;
      }
      assertThat(stored()).get().extracting(ClaimRecord::attempts).isEqualTo(attempts);
      if (grant % 3 == 0) {
        settled(
            next.store()
                .release(lease.ofAttempt(attempts), time.now().wall(), "not begun, try again"));
        time.advance(tick());
      } else {
        time.advance(LEASE.multipliedBy(2));
      }
    }
  }

  @Test
  void beginningWhoseAnswerIsLost_isRecordedOnce_evenAfterALostRenewal() {
    a.acquire(ID);
    time.advance(LEASE.multipliedBy(2));
    Lease known = b.acquire(ID);
    settled(b.store().renew(known));

    Lease renewed = settled(b.store().renew(known.counted(true)));
    assertThat(renewed.counted()).as("the store knows of the renewal only").isFalse();
    settled(b.store().renew(renewed.counted(true)));
    Lease begun = settled(b.store().renew(renewed.counted(true)));

    assertThat(begun.counted()).isTrue();
    assertThat(stored()).get().extracting(ClaimRecord::attempts).isEqualTo(2);
    settled(b.store().complete(begun, "done"));
  }

  // Takeover by observation

  /**
   * A claimant whose skew bound is so wide that what it watches shows a lease to be over before a
   * clock does, that of a store which judges both ends of a lease by its own included.
   */
  private Claimant watcher(Duration lease) {
    return new Claimant(
        store(new ClaimSettings(namespace, "b", lease, lease.dividedBy(3), RETENTION), time), time);
  }

  @Test
  void holderAnHourAhead_isTakenOver_onceWatchedUnchangedForSixFifthsOfALease() {
    Claimant ahead = claimant("ahead", time.machine(HOUR));
    ahead.acquire(ID);
    Claimant watcher = watcher(LEASE);
    Held seen = watcher.heldOff(ID);
    assertThat(seen.remaining()).isEqualTo(WATCH);

    time.advance(WATCH.minus(MILLISECOND));
    Held stillSeen = held(watcher.claimAfter(seen, ID));
    assertThat(stillSeen.remaining()).isEqualTo(MILLISECOND);

    time.advance(MILLISECOND);
    Granted granted = granted(watcher.claimAfter(stillSeen, ID));
    assertThat(granted.takenFrom()).isEqualTo("ahead");
    assertThat(granted.lease().token()).isEqualTo(2);
  }

  @Test
  void sightingOfAnotherTokenOrNonce_isNoEvidence() {
    Lease lease = a.acquire(ID);
    Moment now = b.time().now();
    var longAgo = new Moment(now.wall().minus(HOUR), now.ticks() - HOUR.toNanos());
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

    Claimant watcher = watcher(longer.lease());

    Held seen = watcher.heldOff(ID);

    assertThat(seen.remaining()).isEqualTo(Duration.ofSeconds(108));
    time.advance(Duration.ofSeconds(108).minus(MILLISECOND));
    assertThat(watcher.claimAfter(seen, ID)).isInstanceOf(Held.class);
    time.advance(MILLISECOND);
    assertThat(watcher.claimAfter(seen, ID)).isInstanceOf(Granted.class);
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

  @Test
  void wallClockSetBackWhileHolding_keepsTheHoldersOwnDeadline() {
    var machine = time.machine(Duration.ZERO);
    Lease lease = claimant("stepped", machine).acquire(ID);
    time.advance(HOLD.minus(MILLISECOND));
    machine.setSkew(HOUR.negated());

    assertThat(lease.remaining(machine.now())).isEqualTo(MILLISECOND);
    time.advance(MILLISECOND);
    assertThat(lease.isOver(machine.now())).isTrue();
  }
}
