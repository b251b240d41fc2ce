package io.firstclaim.lock.testkit.mutex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.testkit.fault.FaultyStore.Fault;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The part of {@link MutexContract} about a mutex that is held: kept, lost, given back. */
public abstract class KeptMutexContract extends MutexCrowdContract {
  static final Duration THIRD = LEASE.dividedBy(3);
  static final Duration SIXTH = LEASE.dividedBy(6);

  @Test
  void heldMutex_isRenewedAtAThirdOfItsLease_howeverLongItIsHeld() throws Exception {
    try (HeldMutex held = acquired(a)) {
      for (int renewal = 1; renewal <= 9; renewal++) {
        Nonce before = storedNonce();
        passForKeeper(THIRD);
        eventually(() -> !storedNonce().equals(before));
      }
      assertThat(time.elapsed()).isEqualTo(LEASE.multipliedBy(3));
      assertThat(held.isHeld()).isTrue();
      assertThat(held.token()).isEqualTo(storedToken());
      assertHeldByAnother(b);
    }
  }

  @Test
  void renewalThatFails_isTriedAgainBeforeTheLeaseIsOver() throws Exception {
    try (HeldMutex held = acquired(a)) {
      Nonce before = storedNonce();
      faulty.next(Fault.DENIED, Fault.DEFECT, Fault.ERROR);
      passForKeeper(THIRD);
      for (int renewals = 1; renewals <= 3; renewals++) {
        int sent = 1 + renewals;
        eventually(() -> faulty.calls() == sent);
        assertThat(storedNonce()).isEqualTo(before);
        passForKeeper(SIXTH);
      }
      eventually(() -> !storedNonce().equals(before));
      passForKeeper(SIXTH);
      assertThat(held.isHeld()).isTrue();
    }
  }

  @Test
  void renewalWhoseAnswerIsLost_doesNotLoseTheMutex() throws Exception {
    try (HeldMutex held = acquired(a)) {
      faulty.next(Fault.LOST_ANSWER);
      passForKeeper(THIRD);
      eventually(() -> faulty.calls() == 2);
      passForKeeper(SIXTH);
      eventually(() -> faulty.calls() == 3);
      eventually(MutexFixture::nothingIsRenewed);

      assertThat(held.isHeld()).isTrue();
    }
    acquired(b).close();
  }

  /** The renewal hangs in the store; the holder must still hear of the loss. */
  @Test
  void silentStore_losesTheMutex_atTheEndOfItsLease_andTheHolderIsTold() throws Exception {
    var told = new AtomicInteger();
    try (HeldMutex held = acquired(a)) {
      held.whenLost(told::incrementAndGet);
      faulty.next(Fault.SILENCE);
      passForKeeper(HOLD.minusMillis(1));
      eventually(() -> faulty.calls() == 2);
      time.awaitSleeper("firstclaim-leases");
      assertThat(held.isHeld()).isTrue();
      assertThat(told).hasValue(0);

      time.advance(Duration.ofMillis(1));

      assertThat(held.isHeld()).isFalse();
      assertThatThrownBy(held::ensureHeld)
          .isInstanceOf(LeaseLostException.class)
          .hasMessage(
              "mutex billing-run with token %d is no longer held: stop here, somebody else may hold it"
                  .formatted(held.token()));
      eventually(() -> told.get() == 1);
      held.whenLost(told::incrementAndGet);
      assertThat(told).as("who asks too late is told at once").hasValue(2);
    }
    assertThat(told).hasValue(2);
  }

  @Test
  void mutexThatWasTakenOver_isLost_andClosingItFreesNobodyElses() throws Exception {
    var told = new AtomicInteger();
    HeldMutex stale = acquired(a);
    stale.whenLost(
        () -> {
          throw new IllegalStateException("a holder's defect");
        });
    stale.whenLost(told::incrementAndGet);
    passForKeeper(LEASE.multipliedBy(2));
    eventually(() -> told.get() == 1);

    try (HeldMutex next = acquired(b)) {
      assertThat(next.token()).isEqualTo(stale.token() + 1);
      stale.close();
      assertThat(next.isHeld()).isTrue();
      assertHeldByAnother(a);
    }
  }

  @Test
  void renewalThatFindsAnotherHolder_losesTheMutex_beforeItsLeaseIsOver() throws Exception {
    var told = new AtomicInteger();
    try (HeldMutex held = acquired(a)) {
      held.whenLost(told::incrementAndGet);
      faulty.nextRenewal(new SettleResult.Lost("b"));
      passForKeeper(THIRD);

      eventually(() -> told.get() == 1);
      assertThat(held.isHeld()).isFalse();
      assertThatThrownBy(held::ensureHeld).isInstanceOf(LeaseLostException.class);
    }
  }

  @Test
  void closedMutex_isNoLongerHeld_andNobodyIsTold() throws Exception {
    var told = new AtomicInteger();
    HeldMutex held = acquired(a);
    held.whenLost(told::incrementAndGet);

    held.close();
    held.close();
    held.whenLost(told::incrementAndGet);

    assertThat(held.isHeld()).isFalse();
    assertThatThrownBy(held::ensureHeld).isInstanceOf(LeaseLostException.class);
    time.advance(LEASE.multipliedBy(2));
    assertThat(told).hasValue(0);
    assertThat(faulty.calls()).as("one claim, one release").isEqualTo(2);
  }

  @Test
  void closeThatFails_orIsNotAnswered_isRepeated_untilItIs() throws Exception {
    HeldMutex held = acquired(a);
    faulty.next(Fault.DENIED, Fault.DEFECT, Fault.ERROR, Fault.LOST_REQUEST, Fault.LOST_ANSWER);

    held.close();

    for (int release = 2; release <= 6; release++) {
      time.awaitSleeper("firstclaim-mutex-release");
      assertThat(faulty.calls()).isEqualTo(release);
      time.advance(Duration.ofSeconds(2));
    }
    eventually(() -> faulty.calls() == 7);
    acquired(b).close();
  }

  @Test
  void closeThatMeetsWhatIsNoClaim_isNotRepeated() throws Exception {
    HeldMutex held = acquired(a);
    faulty.unreadable().add(ID.asMutex());

    held.close();

    assertThat(held.isHeld()).isFalse();
    assertThat(faulty.calls()).as("one claim, one release").isEqualTo(2);
    assertThatThrownBy(() -> a.acquire(LEASE)).isInstanceOf(UnreadableClaimException.class);
  }

  @Test
  void closeWhileARenewalIsOnItsWay_freesTheMutexAfterIt_withoutWaitingForIt() throws Exception {
    HeldMutex held = acquired(a);
    faulty.next(Fault.SILENCE);
    passForKeeper(THIRD);
    eventually(() -> faulty.calls() == 2);

    held.close();

    assertThat(faulty.calls()).as("a claim and the renewal").isEqualTo(2);
    faulty.wake();
    eventually(() -> b.acquire(Duration.ZERO).isPresent());
  }
}
