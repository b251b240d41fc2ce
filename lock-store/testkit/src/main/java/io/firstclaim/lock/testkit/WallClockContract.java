package io.firstclaim.lock.testkit;

import static io.firstclaim.lock.testkit.Claimant.held;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimResult.Later;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Lost;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/**
 * The contract of a store that judges leases by the clocks of those who write them, to the
 * millisecond and only as right as those clocks are: {@link ClaimStoreContract} and what skew does.
 */
public abstract class WallClockContract extends ClaimStoreContract {
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
    time.advance(WATCH.minus(MILLISECOND));
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

  /**
   * Beyond the declared bound two holders may run at once; the token still lets only one complete.
   */
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
  void releasedRecord_isGrantedAtRetryAt_toTheMillisecond() {
    Instant retryAt = time.now().wall().plusSeconds(7);
    settled(a.store().release(a.acquire(ID), retryAt, "HTTP 503"));

    time.advance(Duration.ofSeconds(7).minus(MILLISECOND));
    assertThat(b.claim(ID)).isEqualTo(new Later(retryAt, 1));

    time.advance(MILLISECOND);
    assertThat(b.claim(ID)).isInstanceOf(Granted.class);
  }
}
