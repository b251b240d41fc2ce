package io.firstclaim.lock.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimState.Dead;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.ClaimState.Free;
import io.firstclaim.lock.ClaimState.Held;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.ReleaseResult;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Lost;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.Sighting;
import io.firstclaim.lock.store.Decision.Unchanged;
import io.firstclaim.lock.store.Decision.Update;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The protocol's rule without a store: which command writes what on which stored record, and which
 * is only answered.
 */
class ProtocolTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration MAX_SKEW = Duration.ofSeconds(1);
  private static final RecordId ID = RecordId.of("id");
  private static final ClaimSettings SETTINGS =
      new ClaimSettings("space", "me", LEASE, MAX_SKEW, Duration.ofDays(8));

  private final Moment now = ManualTime.start().now();
  private final StoreMoment at = StoreMoment.of(now);
  private final Claim claim = Claim.of(ID, Claimant.PAYLOAD, now);
  private final Lease lease =
      new Lease(ID, "me", 3, 2, Claimant.PAYLOAD, new Nonce(7, 0), now, LEASE);
  private final Command.TakeBack takeBack = new Command.TakeBack("why", new Nonce(9, 0));

  private static ClaimRecord stored(ClaimState state) {
    return new ClaimRecord(3, 2, new Nonce(7, 0), Claimant.PAYLOAD, state);
  }

  private Held heldUntil(Instant end) {
    return new Held("other", LEASE, end);
  }

  private Decision<ClaimResult> acquire(@Nullable ClaimRecord stored) {
    return Protocol.decide(stored, new Command.Acquire(claim), at, SETTINGS);
  }

  private Decision<SettleResult> settle(@Nullable ClaimRecord stored, Command.Settle command) {
    return Protocol.decide(stored, command, at, SETTINGS);
  }

  private List<Command.Settle> allSteps() {
    return List.of(
        new Command.Renew(lease),
        new Command.Complete(lease, "result"),
        new Command.Release(lease, now.wall().plusSeconds(9), "cause"),
        new Command.Bury(lease, "cause"));
  }

  // Claims

  @Test
  void claimOfAnAbsentRecord_writesTheFirstGrant() {
    assertThat(acquire(null))
        .isEqualTo(
            new Update<ClaimResult>(
                new ClaimRecord(
                    1,
                    1,
                    claim.nonce(),
                    Claimant.PAYLOAD,
                    new Held("me", LEASE, now.wall().plus(LEASE))),
                new Granted(
                    new Lease(ID, "me", 1, 1, Claimant.PAYLOAD, claim.nonce(), now, LEASE), null)));
  }

  @Test
  void claimOfAFreeRecordThatIsDue_writesTheNextGrant() {
    assertThat(acquire(stored(new Free(now.wall(), "cause")))).isEqualTo(grantOver(4, 3, null));
  }

  @Test
  void mutexThatWasGrantedAsOftenAsIsCounted_canBeGrantedAgain_andAgain() {
    RecordId id = ID.asMutex();
    ClaimRecord stored =
        new ClaimRecord(
            3,
            Integer.MAX_VALUE / 2,
            new Nonce(7, 0),
            Fingerprint.none(),
            new Free(ClaimStore.AT_ONCE, "given back"));
    for (long token = 4; token < 9; token++) {
      var acquire = new Command.Acquire(Claim.ofMutex(id, now));
      var grant = (Update<ClaimResult>) Protocol.decide(stored, acquire, at, SETTINGS);
      Lease granted = Claimant.granted(grant.then()).lease();
      assertThat(granted.token()).isEqualTo(token);
      var release = new Command.Release(granted, ClaimStore.AT_ONCE, "given back");
      stored =
          ((Update<SettleResult>)
                  Protocol.decide(grant.next().requireRoom(), release, at, SETTINGS))
              .next()
              .requireRoom();
    }
    assertThat(stored.attempts()).isEqualTo(Integer.MAX_VALUE / 2);
  }

  @Test
  void claimOfAFreeRecordThatIsNotDue_isAnsweredLater() {
    Instant retryAt = now.wall().plusNanos(1);

    assertThat(acquire(stored(new Free(retryAt, "cause"))))
        .isEqualTo(new Unchanged<ClaimResult>(new ClaimResult.Later(retryAt, 2)));
  }

  @Test
  void claimOfAHeldRecordThatIsOver_writesTheNextGrant_takenFromItsHolder() {
    Instant over = now.wall().minus(MAX_SKEW).minusNanos(1);

    assertThat(acquire(stored(heldUntil(over)))).isEqualTo(grantOver(4, 3, "other"));
  }

  @Test
  void claimOfAHeldRecord_atItsEndPlusMaxSkew_isAnsweredHeldForOneNanosecond() {
    Instant end = now.wall().minus(MAX_SKEW);

    assertThat(acquire(stored(heldUntil(end))))
        .isEqualTo(
            new Unchanged<ClaimResult>(
                new ClaimResult.Held(
                    "other",
                    3,
                    Duration.ofNanos(1),
                    new Sighting(3, new Nonce(7, 0), now, LEASE))));
  }

  @Test
  void claimOfAHeldRecord_watchedForItsLength_writesTheNextGrant() {
    Held farAhead = heldUntil(now.wall().plus(Duration.ofDays(1)));
    var since = new Moment(now.wall(), now.ticks() - LEASE.toNanos() * 6 / 5);
    var seen = new Sighting(3, new Nonce(7, 0), since, LEASE);
    var watching = new Claim(ID, Claimant.PAYLOAD, claim.nonce(), now, seen);

    assertThat(Protocol.decide(stored(farAhead), new Command.Acquire(watching), at, SETTINGS))
        .isEqualTo(grantOver(4, 3, "other"));
  }

  @Test
  void claimWhoseOwnNonceIsStored_isAnsweredGranted_whateverThePayloadSays() {
    var mine =
        new ClaimRecord(
            3, 2, claim.nonce(), Claimant.OTHER_PAYLOAD, heldUntil(now.wall().minusSeconds(99)));

    assertThat(acquire(mine))
        .isEqualTo(new Unchanged<ClaimResult>(new Granted(lease(3, 3, false), null)));
  }

  /** What it was granted it may have given back, by a release that is still on its way. */
  @Test
  void claimOfSeveral_whoseOwnNonceIsStored_isRenewed_soThatNoEarlierReleaseTakes() {
    Lease granted = lease(3, 3, false);
    Lease renewedTwice = granted.renewed(now).renewed(now);
    for (Lease before : List.of(granted, renewedTwice)) {
      ClaimRecord mine = record(3, before.nonce(), heldUntil(now.wall().plusSeconds(9)));
      Lease after = before.renewed(now);

      assertThat(Protocol.decide(mine, new Command.Acquire(claim, true), at, SETTINGS))
          .isEqualTo(
              new Update<ClaimResult>(
                  record(3, after.nonce(), new Held("me", LEASE, now.wall().plus(LEASE))),
                  new Granted(after, null)));
    }
  }

  @Test
  void claimOfAnEndedRecord_isAnsweredWithItsEnding() {
    var ending = new Ending("other", 3, 2, now.wall());

    assertThat(acquire(stored(new Done("other", now.wall(), "result"))))
        .isEqualTo(new Unchanged<ClaimResult>(new ClaimResult.Done(ending, "result")));
    assertThat(acquire(stored(new Dead("other", now.wall(), "cause"))))
        .isEqualTo(new Unchanged<ClaimResult>(new ClaimResult.Dead(ending, "cause")));
  }

  @Test
  void claimWithAnotherPayload_isAnsweredMismatch_inEveryState() {
    for (ClaimState state :
        List.of(
            heldUntil(now.wall()),
            heldUntil(now.wall().minusSeconds(99)),
            new Free(now.wall(), "cause"),
            new Done("other", now.wall(), null),
            new Dead("other", now.wall(), "cause"))) {
      var other = new ClaimRecord(3, 2, new Nonce(7, 0), Claimant.OTHER_PAYLOAD, state);

      assertThat(acquire(other))
          .isEqualTo(new Unchanged<ClaimResult>(new ClaimResult.Mismatch(Claimant.OTHER_PAYLOAD)));
    }
  }

  private Update<ClaimResult> grantOver(long token, int attempt, @Nullable String takenFrom) {
    return new Update<>(
        new ClaimRecord(
            token,
            attempt - 1,
            claim.nonce(),
            Claimant.PAYLOAD,
            new Held("me", LEASE, now.wall().plus(LEASE))),
        new Granted(lease(token, attempt, false), takenFrom));
  }

  private Lease lease(long token, int attempt, boolean counted) {
    return new Lease(
        ID,
        "me",
        token,
        attempt,
        counted,
        Claimant.PAYLOAD,
        claim.nonce(),
        now,
        LEASE,
        null,
        null,
        List.of(),
        null);
  }

  // Steps

  @Test
  void stepUnderItsLease_writesTheNextNonceUnderTheSameToken() {
    ClaimRecord mine = stored(heldUntil(now.wall()));
    List<ClaimState> expected =
        List.of(
            new Held("me", LEASE, now.wall().plus(LEASE)),
            new Done("me", now.wall(), "result"),
            new Free(now.wall().plusSeconds(9), "cause"),
            new Dead("me", now.wall(), "cause"));

    for (int i = 0; i < expected.size(); i++) {
      assertThat(settle(mine, allSteps().get(i)))
          .isEqualTo(
              new Update<SettleResult>(
                  new ClaimRecord(3, 2, new Nonce(7, 1), Claimant.PAYLOAD, expected.get(i)),
                  new Settled(lease.renewed(now))));
    }
  }

  @Test
  void stepAfterAnUnknownRenewal_goesOnFromThatRenewal() {
    var renewed = new ClaimRecord(3, 2, new Nonce(7, 1), Claimant.PAYLOAD, heldUntil(now.wall()));

    for (Command.Settle step : allSteps()) {
      if (step instanceof Command.Renew) {
        assertThat(settle(renewed, step))
            .isEqualTo(new Unchanged<SettleResult>(new Settled(lease.renewed(lease.start()))));
      } else {
        assertThat(settle(renewed, step))
            .isInstanceOfSatisfying(
                Update.class, write -> assertThat(write.next().nonce()).isEqualTo(new Nonce(7, 2)));
      }
    }
  }

  @Test
  void releaseForAPastTime_isDueAtItsRelease() {
    var release = new Command.Release(lease, now.wall().minusSeconds(60), "cause");

    assertThat(settle(stored(heldUntil(now.wall())), release))
        .isInstanceOfSatisfying(
            Update.class,
            write -> assertThat(write.next().state()).isEqualTo(new Free(now.wall(), "cause")));
  }

  @Test
  void stepWithoutItsTokenAndNonce_isAnsweredLost_toWhoeverHasIt() {
    Held held = heldUntil(now.wall());
    for (Command.Settle step : allSteps()) {
      assertThat(settle(null, step)).isEqualTo(lostTo(null));
      assertThat(settle(record(4, new Nonce(7, 0), held), step)).isEqualTo(lostTo("other"));
      assertThat(settle(record(2, new Nonce(7, 0), held), step)).isEqualTo(lostTo("other"));
      assertThat(settle(record(3, new Nonce(7, 2), held), step)).isEqualTo(lostTo("other"));
      assertThat(settle(record(3, new Nonce(8, 0), held), step)).isEqualTo(lostTo("other"));
      assertThat(settle(record(4, new Nonce(8, 0), new Free(now.wall(), "")), step))
          .isEqualTo(lostTo(null));
      assertThat(settle(record(4, new Nonce(8, 0), new Done("x", now.wall(), null)), step))
          .isEqualTo(lostTo("x"));
      assertThat(settle(record(4, new Nonce(8, 0), new Dead("x", now.wall(), "")), step))
          .isEqualTo(lostTo("x"));
    }
  }

  @Test
  void stepThatIsRecordedAlready_isAnsweredSettled_anyOtherIsLost() {
    Nonce after = new Nonce(7, 1);
    ClaimRecord done = record(3, after, new Done("me", now.wall(), null));
    ClaimRecord free = record(3, after, new Free(now.wall(), "cause"));
    ClaimRecord dead = record(3, after, new Dead("me", now.wall(), "cause"));

    for (Command.Settle step : allSteps()) {
      assertThat(settle(done, step))
          .isEqualTo(step instanceof Command.Complete ? settledAlready() : lostTo("me"));
      assertThat(settle(free, step))
          .isEqualTo(step instanceof Command.Release ? settledAlready() : lostTo(null));
      assertThat(settle(dead, step))
          .isEqualTo(step instanceof Command.Bury ? settledAlready() : lostTo("me"));
    }
  }

  @Test
  void endUnderTheSameToken_byAnotherGrant_isLost() {
    for (Nonce others : List.of(new Nonce(8, 1), new Nonce(7, 0), new Nonce(7, 3))) {
      for (Command.Settle step : allSteps()) {
        assertThat(settle(record(3, others, new Done("x", now.wall(), null)), step))
            .isEqualTo(lostTo("x"));
        assertThat(settle(record(3, others, new Dead("x", now.wall(), "cause")), step))
            .isEqualTo(lostTo("x"));
        assertThat(settle(record(3, others, new Free(now.wall(), "cause")), step))
            .isEqualTo(lostTo(null));
      }
    }
  }

  @Test
  void stateOfALease_isWhatItsGrantWrote() {
    Update<ClaimResult> grant = Protocol.grant(null, claim, at, SETTINGS);
    Lease granted = ((Granted) grant.then()).lease();

    assertThat(Protocol.stateOf(granted)).isEqualTo(grant.next());
  }

  private static ClaimRecord record(long token, Nonce nonce, ClaimState state) {
    return new ClaimRecord(token, 2, nonce, Claimant.PAYLOAD, state);
  }

  private static Unchanged<SettleResult> lostTo(@Nullable String by) {
    return new Unchanged<>(new Lost(by));
  }

  private Unchanged<SettleResult> settledAlready() {
    return new Unchanged<>(new Settled(lease));
  }

  @Test
  void causeOfAThousandCodePoints_isKept_andALongerOneCut() {
    String longest = "\uD83D\uDE00".repeat(1000);

    assertThat(causeOf(longest)).isEqualTo(longest);
    assertThat(causeOf(longest + "x")).isEqualTo(longest + "…");
  }

  private String causeOf(String cause) {
    return settle(stored(heldUntil(now.wall())), new Command.Bury(lease, cause))
            instanceof Update(ClaimRecord next, var _)
        ? ((Dead) next.state()).cause()
        : "";
  }

  @Test
  void endOfWhatIsNoRecord_isRefused() {
    Lease mutex =
        new Lease(ID.asMutex(), "me", 3, 2, Claimant.PAYLOAD, new Nonce(7, 0), now, LEASE);
    ClaimRecord mine = stored(heldUntil(now.wall()));

    for (Command.Settle end :
        List.of(new Command.Complete(mutex, null), new Command.Bury(mutex, "cause"))) {
      assertThatIllegalArgumentException().isThrownBy(() -> settle(mine, end));
    }
  }

  @Test
  void endWithTheClaimsOwnNonce_isAnEndNoLess() {
    assertThat(acquire(record(3, claim.nonce(), new Done("x", now.wall(), null))))
        .isInstanceOfSatisfying(
            Unchanged.class,
            answered -> assertThat(answered.answer()).isInstanceOf(ClaimResult.Done.class));
  }

  // Operators

  @Test
  void takingBack_freesTheGrantThatWasMeant_andNoOther() {
    ClaimRecord meant = stored(heldUntil(now.wall()));
    ClaimRecord renewed = record(3, new Nonce(7, 1), heldUntil(now.wall()));
    ClaimRecord another = record(4, new Nonce(8, 0), heldUntil(now.wall()));
    ClaimRecord free = record(3, new Nonce(9, 0), new Free(ClaimStore.AT_ONCE, "why"));

    assertThat(Protocol.decide(renewed, takeBack, meant))
        .isEqualTo(new Update<>(free, new ReleaseResult.Released(renewed, free)));
    assertThat(Protocol.decide(another, takeBack, meant)).isEqualTo(notReleased(another));
    assertThat(Protocol.decide(meant, takeBack, null)).isEqualTo(notReleased(meant));
    assertThat(Protocol.decide(null, takeBack, meant)).isEqualTo(notReleased(null));
  }

  @Test
  void takingBackWhatIsNotHeld_isRefused_butIsItsOwnWriteOnceMore() {
    ClaimRecord meant = stored(heldUntil(now.wall()));
    ClaimRecord done = record(3, new Nonce(7, 1), new Done("me", now.wall(), null));
    ClaimRecord free = record(3, new Nonce(9, 0), new Free(ClaimStore.AT_ONCE, "why"));

    assertThat(Protocol.decide(done, takeBack, meant)).isEqualTo(notReleased(done));
    assertThat(Protocol.decide(free, takeBack, meant))
        .isEqualTo(new Unchanged<>(new ReleaseResult.Released(meant, free)));
  }

  private static Unchanged<ReleaseResult> notReleased(@Nullable ClaimRecord stored) {
    return new Unchanged<>(new ReleaseResult.NotReleased(stored));
  }

  @Test
  void redrive_freesWhatIsDead_onceEach_andKnowsItsOwnWrite() {
    var by = new RedriveId("redrive-1");
    ClaimRecord dead = stored(new Dead("x", now.wall(), "cause"));
    ClaimRecord freed = freed(by, "freed by redrive redrive-1");
    var redrive = new Command.Redrive(Claimant.PAYLOAD, by, null, new Nonce(9, 0));
    var again = new Command.Redrive(Claimant.PAYLOAD, by, null, new Nonce(9, 9));

    assertThat(Protocol.decide(dead, redrive))
        .isEqualTo(new Update<>(freed, new RedriveResult.Freed(4)));
    assertThat(Protocol.decide(freed, redrive))
        .isEqualTo(new Unchanged<>(new RedriveResult.Freed(4)));
    assertThat(Protocol.decide(freed, again))
        .isEqualTo(new Unchanged<>(new RedriveResult.FreedBefore(freed)));
    assertThat(
            Protocol.decide(
                dead, new Command.Redrive(Claimant.PAYLOAD, by, "mended", new Nonce(9, 0))))
        .isEqualTo(
            new Update<>(
                freed(by, "freed by redrive redrive-1: mended"), new RedriveResult.Freed(4)));
  }

  private static ClaimRecord freed(RedriveId by, String cause) {
    return new ClaimRecord(
        4, 0, new Nonce(9, 0), Claimant.PAYLOAD, new Free(ClaimStore.AT_ONCE, cause), by);
  }

  // Retirement

  private Optional<Retirement> retire(ClaimState state, Duration age) {
    return Retirement.of(stored(state), ID, age, "sweeper", now, SETTINGS);
  }

  @Test
  void endedRecord_isRetired_onceItIsOlderThanTheRetention() {
    Duration retention = SETTINGS.retention();
    for (ClaimState end : List.of(new Done("x", now.wall(), null), new Dead("x", now.wall(), ""))) {
      assertThat(retire(end, retention)).isEmpty();
      assertThat(retire(end, retention.plusNanos(1))).isPresent();
    }
  }

  @Test
  void heldOrFreeRecord_isRetired_onceItIsOverOrDueForLongerThanTheRetention() {
    Instant kept = now.wall().minus(SETTINGS.retention());
    Duration old = Duration.ofDays(1000);

    assertThat(retire(heldUntil(kept.minus(MAX_SKEW)), old)).isEmpty();
    assertThat(retire(heldUntil(kept.minus(MAX_SKEW).minusNanos(1)), old)).isPresent();
    assertThat(retire(new Free(kept, "cause"), old)).isEmpty();
    assertThat(retire(new Free(kept.minusNanos(1), "cause"), old)).isPresent();
  }

  @Test
  void recordReleasedAtOnce_isRetired_onceItIsOlderThanTheRetention() {
    Duration retention = SETTINGS.retention();

    assertThat(retire(new Free(ClaimStore.AT_ONCE, "stopping"), retention)).isEmpty();
    assertThat(retire(new Free(ClaimStore.AT_ONCE, "stopping"), retention.plusNanos(1)))
        .isPresent();
  }

  @Test
  void retiredRecord_isHeldUnderTheNextToken_andItsNextGrantIsAFirstAttempt() {
    Retirement retirement =
        retire(new Done("x", now.wall(), null), Duration.ofDays(9)).orElseThrow();
    Lease taken = retirement.lease();

    assertThat(taken.token()).isEqualTo(4);
    assertThat(taken.nonce()).isNotEqualTo(new Nonce(7, 0));
    ClaimRecord held = retirement.claim();
    assertThat(held.state()).isEqualTo(new Held("sweeper", LEASE, now.wall().plus(LEASE)));
    var next = (ClaimResult.Granted) Protocol.grant(held, claim, at, SETTINGS).then();
    assertThat(next.lease().attempt()).isEqualTo(1);
  }
}
