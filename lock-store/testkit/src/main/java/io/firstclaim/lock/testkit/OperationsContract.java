package io.firstclaim.lock.testkit;

import static io.firstclaim.lock.testkit.Claimant.OTHER_PAYLOAD;
import static io.firstclaim.lock.testkit.Claimant.PAYLOAD;
import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Done;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimState.Free;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.RedriveResult.Freed;
import io.firstclaim.lock.RedriveResult.FreedBefore;
import io.firstclaim.lock.RedriveResult.NotDead;
import io.firstclaim.lock.ReleaseResult;
import io.firstclaim.lock.ReleaseResult.NotReleased;
import io.firstclaim.lock.ReleaseResult.Released;
import io.firstclaim.lock.SettleResult.Lost;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.store.DrivenClaimStore;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The part of {@link ClaimStoreContract} about what operators do to claims that are not theirs. */
public abstract class OperationsContract extends ResourceContract {
  private static final RedriveId FIRST = new RedriveId("redrive-1");
  private static final RedriveId SECOND = new RedriveId("redrive-2");

  private static ClaimOperations operator(Claimant claimant) {
    return claimant.operations();
  }

  private RedriveResult redrive(RedriveId by) {
    return operator(b).redrive(ID, PAYLOAD, by);
  }

  private ClaimRecord present() {
    return stored().orElseThrow();
  }

  private Lease buried() {
    return settled(a.store().bury(a.acquire(ID), "poison"));
  }

  // Release

  @Test
  void releasedByAnOperator_isFreeAtOnce_withItsTokenAndAttempts() {
    a.store().release(a.acquire(ID), ClaimStore.AT_ONCE, "again");
    Lease lease = settled(a.store().renew(a.acquire(ID).counted(true)));
    ClaimRecord held = present();

    ReleaseResult answer = operator(b).release(ID, "its host is gone");

    ClaimRecord free = present();
    assertThat(answer).isEqualTo(new Released(held, free));
    assertThat(free.token()).isEqualTo(lease.token()).isEqualTo(2);
    assertThat(free.attempts()).isEqualTo(2);
    assertThat(free.nonce()).isNotEqualTo(held.nonce()).isNotEqualTo(held.nonce().next());
    assertThat(free.state()).isEqualTo(new Free(ClaimStore.AT_ONCE, "its host is gone"));
    assertThat(b.acquire(ID).token()).isEqualTo(3);
  }

  @ParameterizedTest
  @EnumSource
  void holderWhoseRecordAnOperatorReleased_isToldByItsNextStep(Step step) {
    Lease lease = a.acquire(ID);
    operator(b).release(ID, "its host is gone");
    Optional<ClaimRecord> before = stored();

    assertThat(step.take(a.store(), lease)).isEqualTo(new Lost(null));
    assertThat(stored()).isEqualTo(before);
  }

  @Test
  void releaseByAnOperator_ofWhatIsNotHeld_changesNothing_andSaysWhatIs() {
    assertThat(operator(b).release(ID, "why")).isEqualTo(new NotReleased(null));

    Lease lease = a.acquire(ID);
    settled(a.store().release(lease, time.now().wall().plusSeconds(5), "again"));
    assertNotReleased();
    time.advance(HOUR);
    settled(a.store().complete(a.acquire(ID), null));
    assertNotReleased();
  }

  @Test
  void releaseOfAGrantThatIsOver_leavesTheNextOneHeld() {
    Lease first = a.acquire(ID);
    a.store().release(first, ClaimStore.AT_ONCE, "again");
    Lease next = b.acquire(ID);
    ClaimRecord held = present();

    assertThat(operator(a).release(ID, first.token(), "its host is gone"))
        .isEqualTo(new NotReleased(held));
    assertThat(present()).isEqualTo(held);

    assertThat(operator(a).release(ID, next.token(), "its host is gone"))
        .isInstanceOf(Released.class);
    assertThat(operator(a).release(RecordId.of("nobody's"), 1, "why"))
        .isEqualTo(new NotReleased(null));
  }

  private void assertNotReleased() {
    ClaimRecord before = present();
    assertThat(operator(b).release(ID, "why")).isInstanceOf(NotReleased.class);
    assertThat(present()).isEqualTo(before);
  }

  @Test
  void releaseByAnOperator_ofARecordWithResources_leavesThemToTheirHolder() {
    RecordId account = RecordId.of("account").asResource();
    Lease lease = granted(a.store().claim(a.newClaim(ID).withResources(List.of(account)))).lease();
    assertThat(operator(b).release(ID, "why")).isInstanceOf(Released.class);

    assertThat(b.store().find(account).orElseThrow().state()).isInstanceOf(ClaimState.Held.class);
    assertThat(a.store().complete(lease, null)).isEqualTo(new Lost(null));
    time.advance(HOUR);
    Claim next = b.newClaim(ID).withResources(List.of(account));
    assertThat(granted(b.store().claim(next)).lease().resources()).hasSize(1);
  }

  @Test
  void resource_isReleasedByItself() {
    RecordId account = RecordId.of("account").asResource();
    granted(a.store().claim(a.newClaim(ID).withResources(List.of(account))));

    assertThat(operator(b).release(account, "why")).isInstanceOf(Released.class);

    Claim other = b.newClaim(RecordId.of("another")).withResources(List.of(account));
    assertThat(b.store().claim(other)).isInstanceOf(Granted.class);
  }

  // Redrive

  @Test
  void redrivenRecord_isFreeAtOnce_withAHigherTokenAndNoAttempts() {
    Lease lease = buried();

    assertThat(redrive(FIRST)).isEqualTo(new Freed(lease.token() + 1));

    assertThat(present().token()).isEqualTo(lease.token() + 1);
    assertThat(present().attempts()).isZero();
    assertThat(present().redrive()).isEqualTo(FIRST);
    assertThat(present().fingerprint()).isEqualTo(PAYLOAD);
    assertThat(storedState(Free.class).retryAt()).isEqualTo(ClaimStore.AT_ONCE);
    Lease next = b.acquire(ID);
    assertThat(next.token()).isEqualTo(lease.token() + 2);
    assertThat(next.attempt()).isEqualTo(1);
    settled(b.store().complete(next, "at last"));
    assertThat(a.claim(ID)).isInstanceOf(Done.class);
  }

  @Test
  void reasonOfARedrive_isKeptWithTheClaim() {
    buried();

    assertThat(operator(b).redrive(ID, PAYLOAD, FIRST, "mended")).isInstanceOf(Freed.class);

    assertThat(storedState(Free.class).cause()).isEqualTo("freed by redrive " + FIRST + ": mended");
  }

  @ParameterizedTest
  @EnumSource
  void redrive_isKeptByEveryStep(Step step) {
    buried();
    redrive(FIRST);

    Lease lease = b.acquire(ID);
    assertThat(present().redrive()).isEqualTo(FIRST);
    lease = settled(b.store().renew(lease));
    assertThat(present().redrive()).isEqualTo(FIRST);
    settled(step.take(b.store(), lease));
    assertThat(present().redrive()).isEqualTo(FIRST);
  }

  @Test
  void redrive_isKeptByTakeoversAndReleases_andByARecordWithResources() {
    buried();
    redrive(FIRST);
    a.acquire(ID);
    time.advance(HOUR);
    Lease taken = b.acquire(ID);
    assertThat(taken.redrive()).isEqualTo(FIRST);
    operator(a).release(ID, "why");
    assertThat(present().redrive()).isEqualTo(FIRST);

    RecordId account = RecordId.of("account-" + ID).asResource();
    Lease lease = granted(a.store().claim(a.newClaim(ID).withResources(List.of(account)))).lease();
    settled(a.store().bury(lease, "again"));
    assertThat(present().redrive()).isEqualTo(FIRST);
  }

  @Test
  void claimSentAgain_afterARedrive_isGrantedTheSame_withTheRedrive() {
    buried();
    redrive(FIRST);
    Claim claim = a.newClaim(ID);
    Lease lease = granted(a.store().claim(claim)).lease();

    assertThat(granted(a.store().claim(claim)).lease()).isEqualTo(lease);
    assertThat(lease.redrive()).isEqualTo(FIRST);
  }

  @Test
  void sameRedriveAgain_changesNothing_whateverBecameOfTheRecord() {
    buried();
    redrive(FIRST);
    assertFreedBefore(true);

    Lease lease = a.acquire(ID);
    assertFreedBefore(false);
    settled(a.store().release(lease, ClaimStore.AT_ONCE, "again"));
    assertFreedBefore(true);
    settled(a.store().bury(a.acquire(ID), "poison again"));
    assertFreedBefore(false);

    assertThat(redrive(SECOND)).isInstanceOf(Freed.class);
    settled(a.store().complete(a.acquire(ID), null));
    assertThat(redrive(SECOND)).isInstanceOf(FreedBefore.class);
  }

  private void assertFreedBefore(boolean free) {
    ClaimRecord before = present();
    FreedBefore answer = (FreedBefore) redrive(FIRST);
    assertThat(answer.isFree()).isEqualTo(free);
    assertThat(answer.present().nonce()).isEqualTo(before.nonce());
    assertThat(present()).isEqualTo(before);
  }

  @Test
  void redriveOfWhatIsNotDead_changesNothing_andSaysWhatIs() {
    assertThat(redrive(FIRST)).isEqualTo(new NotDead(null));
    Lease lease = a.acquire(ID);
    assertNotDead();
    settled(a.store().release(lease, time.now().wall().plusSeconds(5), "again"));
    assertNotDead();
    time.advance(HOUR);
    settled(a.store().complete(a.acquire(ID), null));
    assertNotDead();
  }

  private void assertNotDead() {
    ClaimRecord before = present();
    NotDead answer = (NotDead) redrive(FIRST);
    @Nullable ClaimRecord said = answer.present();
    assertThat(said).isNotNull();
    assertThat(present()).isEqualTo(before);
  }

  @Test
  void redriveOfAnotherPayload_changesNothing() {
    buried();
    ClaimRecord before = present();

    assertThat(operator(b).redrive(ID, OTHER_PAYLOAD, FIRST))
        .isEqualTo(new RedriveResult.Mismatch(PAYLOAD));
    assertThat(present()).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource
  void lateStepOfTheOldEnd_isLost_afterARedrive(Step step) {
    Lease zombie = a.acquire(ID);
    time.advance(HOUR);
    Lease lease = b.acquire(ID);
    settled(b.store().bury(lease, "poison"));
    redrive(FIRST);
    ClaimRecord before = present();

    assertThat(step.take(a.store(), zombie)).isEqualTo(new Lost(null));
    assertThat(step.take(b.store(), lease)).isEqualTo(new Lost(null));
    assertThat(present()).isEqualTo(before);
  }

  // Undoing a redrive

  private static final ClaimState.Dead END =
      new ClaimState.Dead("a/one", Instant.parse("2026-01-01T00:00:00Z"), "poison");

  private boolean undo(RedriveId by, long token) {
    return operator(b).undoRedrive(ID, by, token, 5, END);
  }

  @Test
  void undoneRedrive_leavesTheRecordDeadAsItWas_forTheNextRedrive_evenOfTheSameId() {
    long token = buried().token();
    redrive(FIRST);

    assertThat(undo(FIRST, token + 1)).isTrue();

    assertThat(present().state()).isEqualTo(END);
    assertThat(present().attempts()).isEqualTo(5);
    assertThat(present().token()).isEqualTo(token + 1);
    assertThat(present().redrive()).isNull();
    assertThat(a.claim(ID)).isInstanceOf(ClaimResult.Dead.class);
    assertThat(redrive(FIRST)).isEqualTo(new Freed(token + 2));
    assertThat(b.acquire(ID).attempt()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void redriveOfWhatSomebodyClaimedSince_isNotUndone(Step step) {
    long token = buried().token();
    redrive(FIRST);
    Lease lease = a.acquire(ID);
    assertUnchangedByUndo(token);
    settled(step.take(a.store(), lease));
    assertUnchangedByUndo(token);
  }

  private void assertUnchangedByUndo(long token) {
    ClaimRecord before = present();
    assertThat(undo(FIRST, token + 1)).isFalse();
    assertThat(present()).isEqualTo(before);
  }

  @Test
  void redriveOfAnother_orOfNothing_isNotUndone() {
    assertThat(undo(FIRST, 1)).isFalse();
    assertThat(stored()).isEmpty();
    long token = buried().token();
    assertUnchangedByUndo(token);
    redrive(SECOND);
    assertUnchangedByUndo(token);
  }

  @Test
  void whatAnotherRedriveFreed_andNobodyTried_isTakenUp() {
    long token = buried().token();
    redrive(FIRST);

    assertThat(redrive(SECOND)).isEqualTo(new Freed(token + 2));

    assertThat(present().redrive()).isEqualTo(SECOND);
    assertThat(undo(FIRST, token + 1)).isFalse();
    settled(a.store().release(a.acquire(ID), ClaimStore.AT_ONCE, "tried"));
    assertThat(redrive(FIRST)).isInstanceOf(NotDead.class);
  }

  // Races

  @Test
  void undoneRedrive_againstAClaim_isOneOrTheOther() throws Exception {
    for (int round = 0; round < 10; round++) {
      RecordId id = RecordId.of("undone-" + round);
      settled(a.store().bury(a.acquire(id), "poison"));
      assertThat(operator(b).redrive(id, PAYLOAD, FIRST)).isEqualTo(new Freed(2));

      List<Object> answers =
          concurrently(
              2, i -> i == 0 ? a.claim(id) : operator(b).undoRedrive(id, FIRST, 2, 1, END));

      boolean claimed = answers.get(0) instanceof ClaimResult.Granted;
      assertThat(answers.get(1)).isEqualTo(!claimed);
      assertThat(b.store().find(id).orElseThrow().state())
          .isInstanceOf(claimed ? ClaimState.Held.class : ClaimState.Dead.class);
    }
  }

  @Test
  void manyOfOneRedriveAtOnce_freeItOnce() throws Exception {
    for (int round = 0; round < 10; round++) {
      RecordId id = RecordId.of("redriven-" + round);
      settled(a.store().bury(a.acquire(id), "poison"));

      List<RedriveResult> answers =
          concurrently(8, i -> operator(i % 2 == 0 ? a : b).redrive(id, PAYLOAD, FIRST));

      assertThat(answers).hasOnlyElementsOfTypes(Freed.class, FreedBefore.class);
      assertThat(answers.stream().filter(Freed.class::isInstance)).hasSize(1);
      assertThat(b.store().find(id).orElseThrow().token()).isEqualTo(2);
    }
  }

  @Test
  void twoRedrivesAtOnce_freeItOneAfterTheOther_eachUnderATokenOfItsOwn() throws Exception {
    for (int round = 0; round < 10; round++) {
      RecordId id = RecordId.of("redriven-twice-" + round);
      settled(a.store().bury(a.acquire(id), "poison"));

      List<RedriveResult> answers =
          concurrently(
              2, i -> operator(i == 0 ? a : b).redrive(id, PAYLOAD, i == 0 ? FIRST : SECOND));

      assertThat(answers).containsExactlyInAnyOrder(new Freed(2), new Freed(3));
      assertThat(b.store().find(id).orElseThrow().token()).isEqualTo(3);
    }
  }

  @Test
  void releaseByAnOperator_againstACompletion_isOneOrTheOther() throws Exception {
    for (int round = 0; round < 10; round++) {
      RecordId id = RecordId.of("released-" + round);
      Lease lease = a.acquire(id);
      List<Object> answers =
          concurrently(
              2,
              i ->
                  i == 0
                      ? a.store().complete(lease, null)
                      : operator(b).release(id, "its host is gone"));

      boolean completed = answers.get(0) instanceof Settled;
      assertThat(answers.get(1)).isInstanceOf(completed ? NotReleased.class : Released.class);
      assertThat(b.store().find(id).orElseThrow().state())
          .isInstanceOf(completed ? ClaimState.Done.class : Free.class);
    }
  }

  // Holders of no process

  private static DrivenClaimStore driven(Claimant claimant) {
    assumeThat(claimant.store()).isInstanceOf(DrivenClaimStore.class);
    return (DrivenClaimStore) claimant.store();
  }

  @ParameterizedTest
  @EnumSource
  void resumedLease_goesOn_byAnyProcess_afterAnyRenewals(Step step) {
    Claim claim = a.newClaim(ID);
    Lease lease = granted(a.store().claim(claim)).lease();
    settled(a.store().renew(settled(a.store().renew(lease))));

    Lease resumed = driven(b).resume(ID, 1, claim.nonce()).orElseThrow();

    assertThat(resumed.holder()).isEqualTo("a");
    assertThat(resumed.attempt()).isEqualTo(1);
    assertThat(resumed.fingerprint()).isEqualTo(PAYLOAD);
    settled(step.take(driven(b).forHolder("a", LEASE), resumed));
    assertThat(present().nonce().isUnder(claim.nonce())).isTrue();
  }

  @Test
  void leaseOfAnotherGrant_isNotResumed() {
    Claim claim = a.newClaim(ID);
    Lease lease = granted(a.store().claim(claim)).lease();
    assertThat(driven(b).resume(ID, 2, claim.nonce())).isEmpty();
    assertThat(driven(b).resume(ID, 1, Nonce.random())).isEmpty();
    assertThat(driven(b).resume(ID, 1, claim.nonce().next())).isEmpty();
    settled(a.store().complete(lease, null));
    assertThat(driven(b).resume(ID, 1, claim.nonce())).isEmpty();
  }

  @Test
  void claimForAnotherHolder_hasItsNameAndItsLease() {
    DrivenClaimStore other = driven(a).forHolder("another", LEASE.multipliedBy(2));

    Lease lease = granted(other.claim(a.newClaim(ID))).lease();

    assertThat(lease.holder()).isEqualTo("another");
    assertThat(lease.length()).isEqualTo(LEASE.multipliedBy(2));
    ClaimState.Held held = storedState(ClaimState.Held.class);
    assertThat(held.holder()).isEqualTo("another");
    assertThat(held.length()).isEqualTo(LEASE.multipliedBy(2));
    time.advance(LEASE.multipliedBy(2));
    assertThat(b.heldOff(ID).by()).isEqualTo("another");
  }
}
