package io.firstclaim.lock.testkit;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Blocked;
import io.firstclaim.lock.ClaimResult.Done;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.InTheWay;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.ReleaseResult;
import io.firstclaim.lock.SettleResult.Lost;
import io.firstclaim.lock.SettleResult.Settled;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a store promises of a record that is claimed with what it touches: all or nothing. */
public abstract class ResourceContract extends RaceContract {
  private static final RecordId OTHER = RecordId.of("order-4712");
  private static final RecordId THIRD = RecordId.of("order-4713");
  private static final RecordId X = RecordId.of("account-x").asResource();
  private static final RecordId Y = RecordId.of("account-y").asResource();
  private static final RecordId Z = RecordId.of("account-z").asResource();

  private static Claim claim(Claimant by, RecordId id, RecordId... resources) {
    return by.newClaim(id).withResources(List.of(resources));
  }

  private static Lease acquire(Claimant by, RecordId id, RecordId... resources) {
    return granted(by.store().claim(claim(by, id, resources))).lease();
  }

  private static Blocked blocked(ClaimResult answer) {
    assertThat(answer).isInstanceOf(Blocked.class);
    return (Blocked) answer;
  }

  // Grant

  @Test
  void recordAndItsResources_areGranted_withATokenEach() {
    Lease lease = acquire(a, ID, Y, X);

    assertThat(lease.id()).isEqualTo(ID);
    assertThat(lease.token()).isEqualTo(1);
    assertThat(lease.resources()).extracting(Lease::id).containsExactly(X, Y);
    assertThat(lease.resources()).extracting(Lease::token).allMatch(token -> token > 1);
    assertThat(lease.resources()).extracting(Lease::onBehalfOf).containsOnly(ID.text());
  }

  @Test
  void sameClaimSentAgain_isGrantedTheSame() {
    Claim claim = claim(a, ID, X, Y);
    Lease first = granted(a.store().claim(claim)).lease();

    Lease again = granted(a.store().claim(claim)).lease();

    assertThat(again.token()).isEqualTo(first.token());
    assertThat(again.resources())
        .extracting(Lease::token)
        .isEqualTo(first.resources().stream().map(Lease::token).toList());
    assertThat(a.store().complete(again, null)).isInstanceOf(Settled.class);
  }

  @Test
  void recordAndResourceOfOneName_areApart() {
    acquire(a, ID, X);

    assertThat(b.claim(RecordId.of(X.bytes()))).isInstanceOf(Granted.class);
  }

  @Test
  void recordsThatTouchDifferentThings_areGrantedSideBySide() {
    acquire(a, ID, X, Y);

    assertThat(b.store().claim(claim(b, OTHER, Z))).isInstanceOf(Granted.class);
  }

  // Refusal

  @Test
  void recordWhoseResourceIsHeld_isBlocked_andToldByWhomAndOnBehalfOfWhat() {
    acquire(a, ID, X, Y);

    Blocked answer = blocked(b.store().claim(claim(b, OTHER, Y, Z)));

    assertThat(answer.inTheWay()).extracting(InTheWay::id).containsExactly(Y);
    InTheWay way = answer.inTheWay().getFirst();
    assertThat(way.by()).isEqualTo("a");
    assertThat(way.onBehalfOf()).isEqualTo(ID.text());
    assertThat(way.remaining()).isBetween(LEASE, WATCH.plus(MAX_SKEW));
    assertThat(answer.remaining()).isEqualTo(way.remaining());
  }

  @Test
  void blockedRecord_leavesNothingClaimed_andNoAttemptCounted() {
    acquire(a, ID, Z);
    blocked(b.store().claim(claim(b, OTHER, X, Z)));

    assertThat(acquire(a, THIRD, X).resources()).hasSize(1);
    assertThat(acquire(a, OTHER).attempt()).isEqualTo(1);
  }

  @Test
  void recordThatIsDone_isDone_howeverBusyItsResourcesAre() {
    settled(a.store().complete(acquire(a, ID, X), "first"));
    acquire(a, OTHER, X);

    assertThat(b.store().claim(claim(b, ID, X))).isInstanceOf(Done.class);
  }

  // End

  @Test
  void completedRecord_freesItsResources_atOnce() {
    Lease lease = acquire(a, ID, X, Y);

    settled(a.store().complete(lease, "result"));

    Lease next = acquire(b, OTHER, X, Y);
    assertThat(next.resources().getFirst().token())
        .isEqualTo(lease.resources().getFirst().token() + 1);
  }

  @Test
  void releasedRecord_freesItsResources_atOnce_thoughItIsDueLater() {
    Lease lease = acquire(a, ID, X);

    settled(a.store().release(lease, time.now().wall().plus(HOUR), "failed"));

    assertThat(acquire(b, OTHER, X).token()).isEqualTo(1);
    assertThat(b.store().claim(claim(b, ID, X)))
        .isInstanceOfAny(ClaimResult.Later.class, Blocked.class);
  }

  @Test
  void buriedRecord_freesItsResources_atOnce() {
    settled(a.store().bury(acquire(a, ID, X), "poison"));

    assertThat(acquire(b, OTHER, X).token()).isEqualTo(1);
  }

  @Test
  void completionSentAgain_isKnown_thoughItsResourcesAreOthersByNow() {
    Lease lease = acquire(a, ID, X);
    settled(a.store().complete(lease, null));
    acquire(b, OTHER, X);

    assertThat(a.store().complete(lease, null)).isInstanceOf(Settled.class);
    assertThat(blocked(b.store().claim(claim(b, THIRD, X))).inTheWay().getFirst().by())
        .isEqualTo("b");
  }

  /** Lets b have this, as an operator has freed it. */
  private void handOver(RecordId resource) {
    assertThat(a.operations().release(resource, "by an operator"))
        .isInstanceOf(ReleaseResult.Released.class);
    acquire(b, OTHER, resource);
  }

  @Test
  void release_isRecorded_andFreesTheOtherResources_thoughOneIsAnothersByNow() {
    Lease lease = acquire(a, ID, X, Y, Z);
    handOver(Y);
    Lease notBegun = lease.ofAttempt(lease.attempt() - 1);

    for (int repetition = 0; repetition < 2; repetition++) {
      settled(a.store().release(notBegun, ClaimStore.AT_ONCE, "stopped"));
    }

    assertThat(acquire(b, ID, X, Z).attempt()).isEqualTo(1);
    assertThat(blocked(a.store().claim(claim(a, THIRD, Y))).inTheWay().getFirst().by())
        .isEqualTo("b");
  }

  @Test
  void burial_isRecorded_andFreesTheOtherResources_thoughOneIsAnothersByNow() {
    Lease lease = acquire(a, ID, X, Y, Z);
    handOver(X);

    for (int repetition = 0; repetition < 2; repetition++) {
      settled(a.store().bury(lease, "poison"));
    }

    assertThat(b.claim(ID)).isInstanceOf(ClaimResult.Dead.class);
    assertThat(acquire(b, THIRD, Y, Z).token()).isEqualTo(1);
  }

  @Test
  void endOfARecordThatIsAnothersByNow_isLost_andItsResourcesAreFree() {
    for (Step step : List.of(Step.RELEASE, Step.BURY)) {
      RecordId id = RecordId.of("order-" + step);
      Lease lease = acquire(a, id, X, Y);
      assertThat(a.operations().release(id, "by an operator"))
          .isInstanceOf(ReleaseResult.Released.class);
      Lease taken = acquire(b, id);

      for (int repetition = 0; repetition < 2; repetition++) {
        assertThat(step.take(a.store(), lease)).isEqualTo(new Lost("b"));
      }

      settled(b.store().complete(acquire(b, RecordId.of("after-" + step), X, Y), null));
      settled(b.store().complete(taken, null));
    }
  }

  // Renewal

  @Test
  void renewal_keepsRecordAndResources() {
    Lease lease = acquire(a, ID, X, Y);
    time.advance(LEASE.dividedBy(2));

    Lease renewed = settled(a.store().renew(lease));

    time.advance(LEASE.dividedBy(2).plus(MAX_SKEW).plus(tick()));
    assertThat(renewed.isOver(time.now())).isFalse();
    blocked(b.store().claim(claim(b, OTHER, Y)));
    assertThat(b.claim(ID)).isInstanceOf(ClaimResult.Held.class);
    assertThat(a.store().complete(renewed, null)).isInstanceOf(Settled.class);
  }

  @Test
  void leaseThatIsOver_isTakenOver_withItsResources_andIsLost() {
    Lease lease = acquire(a, ID, X);
    time.advance(LEASE.plus(MAX_SKEW).plus(Duration.ofSeconds(2)));

    Lease taken = acquire(b, ID, X);

    assertThat(taken.token()).isEqualTo(2);
    assertThat(taken.resources().getFirst().token())
        .isEqualTo(lease.resources().getFirst().token() + 1);
    assertThat(a.store().renew(lease)).isInstanceOf(Lost.class);
    assertThat(a.store().complete(lease, null)).isInstanceOf(Lost.class);
    assertThat(b.store().complete(taken, null)).isInstanceOf(Settled.class);
  }

  @Test
  void losingOneResource_isLosingAll() {
    Lease lease = acquire(a, ID, X, Y);
    time.advance(LEASE.plus(MAX_SKEW).plus(Duration.ofSeconds(2)));
    acquire(b, OTHER, Y);

    assertThat(a.store().renew(lease)).isInstanceOf(Lost.class);
  }

  @Test
  void resourceThatIsWatchedUnchanged_isTakenOver_whateverItsHoldersClockSaid() {
    Claimant ahead = claimant("ahead", time.machine(HOUR));
    acquire(ahead, ID, X);
    Claim first = claim(b, OTHER, X);
    Blocked seen = blocked(b.store().claim(first));

    time.advance(WATCH.plus(tick()));

    assertThat(b.store().claim(Claim.after(seen, first, b.time().now())))
        .isInstanceOf(Granted.class);
  }

  // Spaces

  /** Whatever a client calls its record: the others' names are not to be had with it. */
  @Test
  void recordsMutexesResourcesAndRedrives_ofOneName_areApart() {
    String name = "2026-11";
    RedriveId redrive = new RedriveId(name);
    Claimant client = claimant("client", time);
    List<RecordId> records =
        List.of(
            RecordId.of(name),
            RecordId.of("mismatch:redrive:" + name),
            RecordId.of(redrive.mutexId().bytes()));
    ClaimStore store = a.store();
    Lease mutex = granted(store.claim(Claim.ofMutex(RecordId.of(name), a.time().now()))).lease();
    Lease redriving =
        granted(store.claim(Claim.ofMutex(redrive.mutexId(), a.time().now()))).lease();
    Lease other = acquire(a, OTHER, RecordId.of(name).asResource());

    for (RecordId each : Set.copyOf(records)) {
      settled(client.store().complete(granted(client.claim(each)).lease(), "by the client"));
    }

    settled(store.renew(mutex));
    settled(store.renew(redriving));
    settled(store.renew(other));
    assertThat(records).allMatch(each -> client.claim(each) instanceof Done);
  }

  // Mutexes

  @Test
  void severalMutexes_excludeEachOfThem() {
    RecordId one = RecordId.of("table-1").asMutex();
    RecordId two = RecordId.of("table-2").asMutex();
    ClaimStore store = a.store();
    Claim both = Claim.ofMutex(List.of(two, one), "night job", a.time().now());

    Lease lease = granted(store.claim(both)).lease();

    assertThat(lease.id()).isEqualTo(one);
    ClaimResult.Held refused = Claimant.held(b.store().claim(Claim.ofMutex(one, b.time().now())));
    assertThat(refused.onBehalfOf()).isEqualTo("night job");
    assertThat(b.store().claim(Claim.ofMutex(two, b.time().now())))
        .isInstanceOf(ClaimResult.Held.class);
    settled(store.release(lease, ClaimStore.AT_ONCE, "given back"));
    assertThat(b.store().claim(Claim.ofMutex(List.of(one, two), null, b.time().now())))
        .isInstanceOf(Granted.class);
  }

  @Test
  void severalMutexes_ofWhichOneIsAnothersByNow_areGivenBack() {
    RecordId one = RecordId.of("table-1").asMutex();
    RecordId two = RecordId.of("table-2").asMutex();
    RecordId three = RecordId.of("table-3").asMutex();
    for (RecordId freed : List.of(one, two, three)) {
      Claim all = Claim.ofMutex(List.of(one, two, three), null, a.time().now());
      Lease lease = granted(a.store().claim(all)).lease();
      assertThat(a.operations().release(freed, "by an operator"))
          .isInstanceOf(ReleaseResult.Released.class);
      Lease taken = granted(b.store().claim(Claim.ofMutex(freed, b.time().now()))).lease();

      assertThat(a.store().release(lease, ClaimStore.AT_ONCE, "given back"))
          .isInstanceOf(freed.equals(one) ? Lost.class : Settled.class);

      settled(b.store().release(taken, ClaimStore.AT_ONCE, "given back"));
      Claim again = Claim.ofMutex(List.of(one, two, three), null, b.time().now());
      settled(
          b.store()
              .release(granted(b.store().claim(again)).lease(), ClaimStore.AT_ONCE, "given back"));
    }
  }
}
