package io.firstclaim.lock.keeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.lock.testkit.fault.FaultyStore.Fault;
import io.firstclaim.lock.testkit.fault.FaultyStore.Hold;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The test looks, and drives the time; but for those of the keeper's own threads. */
class LeaseKeeperTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  /** How long the holder counts on its lease. */
  private static final Duration HOLD = LEASE.multipliedBy(9).dividedBy(10);

  private static final Duration THIRD = Duration.ofSeconds(10);
  private static final Duration SIXTH = Duration.ofSeconds(5);
  private static final Duration NANO = Duration.ofNanos(1);
  private static final ThreadFactory NOBODY = _ -> new Thread(() -> {});

  private final ManualTime time = ManualTime.start();
  private final FaultyStore store = new FaultyStore(storeOf(LEASE));
  private final LeaseKeeper keeper = keeper(true, Thread.ofPlatform().daemon().factory());
  private final AtomicInteger told = new AtomicInteger();

  private LeaseKeeper keeper(boolean renews, ThreadFactory renewers) {
    return new LeaseKeeper(store, time, renews, Supplier::get, NOBODY, renewers);
  }

  private MemoryClaimStore storeOf(Duration lease) {
    return new MemoryClaimStore(
        new MemoryClaimStore.Claims(),
        new ClaimSettings("test", "a", lease, Duration.ofSeconds(1), Duration.ofDays(8)),
        time);
  }

  private Lease granted(String id) {
    return granted(store, id);
  }

  private Lease granted(ClaimStore by, String id) {
    Claim claim = Claim.of(RecordId.of(id), Fingerprint.none(), time.now());
    return ((ClaimResult.Granted) by.claim(claim)).lease();
  }

  private KeptLease kept() {
    KeptLease kept = keeper.keep(granted("order-1"));
    kept.whenLost(told::incrementAndGet);
    return kept;
  }

  private static void eventually(Callable<Boolean> holds) {
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .atMost(Duration.ofMinutes(5))
        .until(holds);
  }

  /** Has the keeper look at its leases until so many renewals were sent. */
  private void lookUntilRenewals(int sent) {
    eventually(
        () -> {
          keeper.look();
          return store.calls(Op.RENEW) == sent;
        });
  }

  private void lookUntilRenewed(KeptLease kept, Lease before) {
    eventually(
        () -> {
          keeper.look();
          return !kept.lease().equals(before);
        });
  }

  /** Returns when every renewal that was due before is through; makes three of its own. */
  private void fence() {
    for (int i = 0; i < 3; i++) {
      KeptLease other = keeper.keep(granted("fence-" + time.now().ticks()));
      Lease first = other.lease();
      time.advance(THIRD);
      lookUntilRenewed(other, first);
      other.letGo();
    }
  }

  private static SettleResult complete(FaultyStore store, KeptLease kept) {
    return kept.settle(lease -> store.complete(lease, null));
  }

  @Test
  void leaseIsRenewed_atAThirdOfItsLength_notBefore() {
    KeptLease kept = kept();
    Lease first = kept.lease();

    time.advance(THIRD.minus(NANO));
    keeper.look();
    time.advance(NANO);
    keeper.look();

    eventually(() -> !kept.lease().equals(first));
    assertThat(kept.lease().start()).isEqualTo(time.now());
    assertThat(store.calls(Op.RENEW)).isOne();
    assertThat(kept.token()).isEqualTo(first.token());
  }

  @Test
  void leaseIsRenewed_again_forAsLongAsItIsKept() {
    KeptLease kept = kept();
    for (int i = 0; i < 20; i++) {
      Lease before = kept.lease();
      time.advance(THIRD);
      lookUntilRenewed(kept, before);
    }
    assertThat(kept.isHeld()).isTrue();
    assertThat(told).hasValue(0);
  }

  @Test
  void renewalWithoutAnAnswer_isTriedAgain_aSixthOfTheLeaseLater() {
    KeptLease kept = kept();
    Lease first = kept.lease();
    store.next(Op.RENEW, Fault.LOST_REQUEST);
    time.advance(THIRD);
    lookUntilRenewals(1);

    time.advance(SIXTH);
    lookUntilRenewed(kept, first);

    assertThat(store.calls(Op.RENEW)).isEqualTo(2);
    assertThat(kept.isHeld()).isTrue();
  }

  @Test
  void renewalWhoseAnswerWasLost_isRecognised() {
    KeptLease kept = kept();
    Lease first = kept.lease();
    store.next(Op.RENEW, Fault.LOST_ANSWER);
    time.advance(THIRD);
    lookUntilRenewals(1);

    time.advance(SIXTH);
    lookUntilRenewed(kept, first);

    assertThat(complete(store, kept)).isInstanceOf(SettleResult.Settled.class);
  }

  @Test
  void storeThatThrows_whateverItIs_endsNoKeeping() {
    KeptLease kept = kept();
    Lease first = kept.lease();
    store.next(Op.RENEW, Fault.DEFECT, Fault.ERROR);
    time.advance(THIRD);
    lookUntilRenewals(1);
    time.advance(SIXTH);
    lookUntilRenewals(2);

    time.advance(SIXTH);
    lookUntilRenewed(kept, first);
    assertThat(told).hasValue(0);
  }

  @Test
  void renewalThatMeetsWhatIsNoClaim_losesThatLease_andTheOthersAreKept() {
    KeptLease kept = kept();
    KeptLease other = keeper.keep(granted("order-2"));
    Lease first = other.lease();
    store.unreadable().add(RecordId.of("order-1"));

    time.advance(THIRD);
    eventually(
        () -> {
          keeper.look();
          return told.get() == 1 && !other.lease().equals(first);
        });

    assertThat(kept.isHeld()).isFalse();
    assertThat(other.isHeld()).isTrue();
    assertThat(store.calls(Op.RENEW)).as("one for each").isEqualTo(2);
  }

  @Test
  void renewalForWhichThereIsNoThread_isTriedAgainAtTheNextLook() {
    var refusals = new AtomicInteger(3);
    LeaseKeeper scarce =
        keeper(
            true,
            renewal -> {
              if (refusals.getAndDecrement() > 0) {
                throw new OutOfMemoryError("no native thread, as the test asked for");
              }
              return new Thread(renewal);
            });
    KeptLease kept = scarce.keep(granted("order-1"));
    Lease first = kept.lease();
    time.advance(THIRD);

    for (int look = 1; look <= 4; look++) {
      assertThat(kept.lease()).isEqualTo(first);
      scarce.look();
    }

    eventually(() -> !kept.lease().equals(first));
  }

  @Test
  void leaseThatNobodyWouldLookAfter_isNotTaken() {
    LeaseKeeper none =
        new LeaseKeeper(
            store,
            time,
            true,
            Supplier::get,
            _ -> {
              throw new OutOfMemoryError("no native thread, as the test asked for");
            },
            Thread::new);
    Lease lease = granted("order-1");

    assertThatThrownBy(() -> none.keep(lease)).isInstanceOf(OutOfMemoryError.class);

    time.advance(THIRD);
    none.look();
    assertThat(store.calls(Op.RENEW)).isZero();
  }

  @Test
  void holderThatThrows_whenItIsTold_keepsTheOthersGoing() {
    KeptLease bad = keeper.keep(granted("bad"));
    bad.whenLost(
        () -> {
          throw new AssertionError("a holder's defect");
        });
    bad.whenLost(told::incrementAndGet);
    bad.after(
        LEASE,
        () -> {
          throw new OutOfMemoryError("a holder's defect");
        });
    time.advance(LEASE);
    KeptLease good = keeper.keep(granted("good"));
    Lease first = good.lease();
    time.advance(THIRD);

    lookUntilRenewed(good, first);

    eventually(() -> told.get() == 1);
  }

  @Test
  void holderWhoIsSlowToHearOfALoss_holdsUpNobodyElsesRenewal() throws Exception {
    CountDownLatch heard = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    KeptLease slow = keeper.keep(granted("slow"));
    slow.whenLost(
        () -> {
          heard.countDown();
          awaitUninterruptibly(go);
          told.incrementAndGet();
        });
    time.advance(LEASE);
    keeper.look();
    heard.await();
    KeptLease good = keeper.keep(granted("good"));
    Lease first = good.lease();
    time.advance(THIRD);

    lookUntilRenewed(good, first);

    Thread leaving = Thread.ofVirtual().start(slow::letGo);
    eventually(() -> leaving.getState() == Thread.State.WAITING);
    go.countDown();
    leaving.join();
    assertThat(told).as("told before it has let go").hasValue(1);
  }

  @Test
  void holderThatIsToldOfTwoLossesAtOnce_andLetsBothGoEachTime_waitsForItselfInNeither() {
    KeptLease one = keeper.keep(granted("one"));
    KeptLease two = keeper.keep(granted("two"));
    CountDownLatch toldOfBoth = new CountDownLatch(2);
    Runnable stop =
        () -> {
          toldOfBoth.countDown();
          awaitUninterruptibly(toldOfBoth);
          one.letGo();
          two.letGo();
          told.incrementAndGet();
        };
    one.whenLost(stop);
    two.whenLost(stop);
    time.advance(LEASE);

    keeper.look();

    eventually(() -> told.get() == 2);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void fewRenewalsRunAtOnce_andAllHaveTheirTurn() {
    Hold hold = store.hold(Op.RENEW);
    List<KeptLease> many = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      many.add(keeper.keep(granted("many-" + i)));
    }
    time.advance(THIRD);
    keeper.look();
    eventually(() -> hold.arrived() >= 128);
    assertThat(hold.arrived()).isEqualTo(128);

    hold.release();

    eventually(() -> many.stream().allMatch(kept -> kept.lease().start().equals(time.now())));
    assertThat(store.calls(Op.RENEW)).isEqualTo(300);
  }

  @Test
  void leaseThatSomebodyElseHas_isLost_toldOnce_andRenewedNoMore() {
    KeptLease kept = kept();
    store.nextRenewal(new SettleResult.Lost("b/2"));
    time.advance(THIRD);
    keeper.look();
    eventually(() -> told.get() == 1);
    assertThat(kept.isHeld()).isFalse();
    assertThatThrownBy(kept::ensureHeld)
        .isInstanceOf(LeaseLostException.class)
        .hasMessage("the lease on order-1 with token 1 is no longer held");

    fence();
    time.advance(LEASE);
    keeper.look();

    assertThat(store.calls(Op.RENEW)).as("the fence's own, and one").isEqualTo(4);
    assertThat(told).hasValue(1);
  }

  @Test
  void leaseThatRunsOutUnrenewed_isLost_atItsEnd_toldOnce() {
    KeptLease kept = kept();
    store.setDown(true);
    time.advance(HOLD.minus(NANO));
    keeper.look();
    assertThat(kept.isHeld()).isTrue();
    assertThat(told).hasValue(0);

    time.advance(NANO);
    assertThat(kept.isHeld()).isFalse();
    keeper.look();
    keeper.look();

    eventually(() -> told.get() == 1);
    kept.whenLost(told::incrementAndGet);
    assertThat(told).as("who asks too late is told at once").hasValue(2);
  }

  @Test
  void withoutRenewal_theLeaseIsLostAtItsEnd() {
    LeaseKeeper still = keeper(false, Thread::new);
    KeptLease kept = still.keep(granted("order-1"));
    kept.whenLost(told::incrementAndGet);

    time.advance(HOLD.minus(NANO));
    still.look();
    assertThat(kept.isHeld()).isTrue();
    time.advance(NANO);
    still.look();

    eventually(() -> told.get() == 1);
    assertThat(store.calls(Op.RENEW)).isZero();
  }

  @Test
  void nextLook_isInTimeForTheEndOfALease_andForAnAlarm() {
    KeptLease kept = kept();
    kept.after(Duration.ofMillis(1200), told::incrementAndGet);
    time.advance(Duration.ofSeconds(1));
    assertThat(keeper.look()).isEqualTo(Duration.ofMillis(200));
    store.setDown(true);
    time.advance(HOLD.minusMillis(1300));
    assertThat(keeper.look()).isEqualTo(Duration.ofMillis(300));
  }

  @Test
  void nextLook_isInTimeForAnAlarmThatIsSetBeforeIt_howeverLongTheLease() {
    for (Duration length : List.of(Duration.ofHours(1), LEASE, Duration.ofSeconds(24))) {
      assertThat(look(length)).isEqualTo(Duration.ofSeconds(1));
    }
    assertThat(look(Duration.ofSeconds(12))).isEqualTo(Duration.ofMillis(500));
  }

  /** How soon a keeper looks again that has one lease, of this length. */
  private Duration look(Duration length) {
    ClaimStore ofThese = storeOf(length);
    LeaseKeeper own = new LeaseKeeper(ofThese, time, true, Supplier::get, NOBODY, NOBODY);
    KeptLease _ = own.keep(granted(ofThese, "order-1"));
    return own.look();
  }

  @Test
  void alarm_ringsOnce_whenItsTimeHasCome_lostOrNot_butNotOnceItIsLetGo() {
    KeptLease kept = kept();
    KeptLease gone = keeper.keep(granted("gone"));
    var rung = new AtomicInteger();
    kept.after(LEASE.multipliedBy(2), rung::incrementAndGet);
    gone.after(LEASE.multipliedBy(2), rung::incrementAndGet);
    gone.letGo();

    time.advance(LEASE.multipliedBy(2).minus(NANO));
    keeper.look();
    assertThat(rung).hasValue(0);
    time.advance(NANO);
    keeper.look();
    keeper.look();

    assertThat(rung).hasValue(1);
  }

  @Test
  void alarmThatLetsGo_whenARenewalIsDue_sendsNone() {
    var renewers = new AtomicInteger();
    LeaseKeeper own =
        keeper(
            true,
            renewing -> {
              renewers.incrementAndGet();
              return Thread.ofPlatform().daemon().unstarted(renewing);
            });
    KeptLease kept = own.keep(granted("order-1"));
    kept.after(THIRD, kept::letGo);

    time.advance(THIRD);
    own.look();

    assertThat(renewers).hasValue(0);
  }

  @Test
  void settle_waitsForTheRenewalUnderWay_andUsesItsLease() throws InterruptedException {
    KeptLease kept = kept();
    Lease first = kept.lease();
    Hold hold = store.hold(Op.RENEW);
    time.advance(THIRD);
    keeper.look();
    eventually(() -> hold.arrived() == 1);
    assertThat(kept.settleUnlessBusy(lease -> store.complete(lease, null))).isEmpty();
    var result = new AtomicReference<SettleResult>();
    Thread settling = Thread.ofPlatform().start(() -> result.set(complete(store, kept)));
    eventually(() -> settling.getState() == Thread.State.WAITING);
    assertThat(store.calls(Op.COMPLETE)).isZero();

    hold.release();

    assertThat(settling.join(Duration.ofMinutes(5))).isTrue();
    assertThat(result.get()).isInstanceOf(SettleResult.Settled.class);
    assertThat(kept.lease().nonce()).isEqualTo(first.nonce().next());
    assertThat(store.leases()).last().isEqualTo(kept.lease());
  }

  @Test
  void whileItIsSettled_noRenewalBegins() throws InterruptedException {
    KeptLease kept = kept();
    Hold hold = store.hold(Op.COMPLETE);
    Thread settling =
        Thread.ofPlatform().start(() -> assertThat(complete(store, kept)).isNotNull());
    eventually(() -> hold.arrived() == 1);

    fence();

    assertThat(store.calls(Op.RENEW)).as("the fence's own").isEqualTo(3);
    hold.release();
    assertThat(settling.join(Duration.ofMinutes(5))).isTrue();
  }

  @Test
  void settledLease_isNeitherRenewedNorHeldAnyMore_andNobodyIsTold() {
    KeptLease kept = kept();
    assertThat(complete(store, kept)).isInstanceOf(SettleResult.Settled.class);
    assertThat(kept.isHeld()).isFalse();

    fence();

    assertThat(store.calls(Op.RENEW)).as("the fence's own").isEqualTo(3);
    assertThat(told).hasValue(0);
  }

  @Test
  void leaseThatIsLetGo_isNotRenewedAnyMore_andNobodyIsTold() {
    KeptLease kept = kept();
    kept.letGo();

    fence();
    kept.whenLost(told::incrementAndGet);

    assertThat(store.calls(Op.RENEW)).as("the fence's own").isEqualTo(3);
    assertThat(told).hasValue(0);
  }

  @Test
  void leaseWhoseSettlementIsUnknown_isStillRenewed() {
    KeptLease kept = kept();
    Lease first = kept.lease();
    store.next(Op.COMPLETE, Fault.LOST_REQUEST);
    assertThat(complete(store, kept)).isInstanceOf(SettleResult.Unknown.class);

    time.advance(THIRD);
    lookUntilRenewed(kept, first);

    assertThat(complete(store, kept)).isInstanceOf(SettleResult.Settled.class);
  }

  @Test
  void leaseThatWasSettledUnheard_isNotLost_andTheSettlementHearsIt() {
    for (Op op : List.of(Op.COMPLETE, Op.RELEASE)) {
      KeptLease kept = keeper.keep(granted(op.name()));
      kept.whenLost(told::incrementAndGet);
      int renewals = store.calls(Op.RENEW);
      store.next(op, Fault.LOST_ANSWER);
      assertThat(settle(op, kept)).isInstanceOf(SettleResult.Unknown.class);

      time.advance(THIRD);
      lookUntilRenewals(renewals + 1);
      time.advance(SIXTH);
      lookUntilRenewals(renewals + 2);

      assertThat(kept.isHeld()).as("after %s", op).isTrue();
      assertThat(settle(op, kept)).isInstanceOf(SettleResult.Settled.class);
    }
    fence();
    assertThat(told).as("of a loss").hasValue(0);
  }

  private SettleResult settle(Op op, KeptLease kept) {
    return op == Op.COMPLETE
        ? complete(store, kept)
        : kept.settle(lease -> store.release(lease, time.now().wall(), "enough"));
  }

  @Test
  void ownThread_looksByItself_andEndsWhenNothingIsKept() throws InterruptedException {
    var looker = new AtomicReference<Thread>();
    LeaseKeeper own =
        new LeaseKeeper(
            store,
            time,
            true,
            Supplier::get,
            looking -> {
              Thread thread = Thread.ofPlatform().daemon().name("looker").unstarted(looking);
              looker.set(thread);
              return thread;
            },
            Thread.ofPlatform().daemon().factory());
    for (int round = 1; round <= 2; round++) {
      KeptLease kept = own.keep(granted("order-" + round));
      Lease first = kept.lease();
      time.awaitSleeper("looker");
      time.advance(THIRD);
      eventually(() -> !kept.lease().equals(first));
      time.awaitSleeper("looker");

      kept.letGo();
      time.advance(LEASE);

      assertThat(looker.get().join(Duration.ofMinutes(5))).isTrue();
    }
  }

  @Test
  void noError_endsTheKeepersOwnThread() throws InterruptedException {
    Queue<Error> errors = new ConcurrentLinkedQueue<>();
    TimeSource failing =
        new TimeSource() {
          @Override
          public Moment now() {
            failInKeeper();
            return time.now();
          }

          @Override
          public void sleep(Duration duration) throws InterruptedException {
            failInKeeper();
            time.sleep(duration);
          }

          private void failInKeeper() {
            Error error =
                Thread.currentThread().getName().equals("firstclaim-leases") ? errors.poll() : null;
            if (error != null) {
              throw error;
            }
          }
        };
    KeptLease kept = new LeaseKeeper(store, failing, true).keep(granted("order-1"));
    for (int i = 0; i < 3; i++) {
      Lease before = kept.lease();
      time.awaitSleeper("firstclaim-leases");
      errors.add(new OutOfMemoryError("as the test asked for"));
      errors.add(new StackOverflowError("as the test asked for"));
      errors.add(new NoClassDefFoundError("as the test asked for"));
      errors.add(new AssertionError("as the test asked for"));
      time.advance(THIRD);
      eventually(() -> !kept.lease().equals(before) && errors.isEmpty());
    }
    assertThat(kept.isHeld()).isTrue();
    kept.letGo();
  }

  /** One spinner for each core, on threads of the platform, and one on each virtual carrier. */
  @Test
  void handlersThatSpin_stopNoRenewal() throws InterruptedException {
    var enough = new AtomicBoolean();
    Runnable spin =
        () -> {
          while (!enough.get()) {
            Thread.onSpinWait();
          }
        };
    // Before they spin: a lock, such as that of random numbers, may be with a virtual thread that
    // has no carrier then.
    Lease granted = granted("order-1");
    List<Thread> spinning = new ArrayList<>();
    try {
      for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
        spinning.add(Thread.ofPlatform().daemon().start(spin));
        spinning.add(Thread.ofVirtual().start(spin));
      }
      KeptLease kept = new LeaseKeeper(store, time, true).keep(granted);
      for (int i = 0; i < 6; i++) {
        Lease before = kept.lease();
        time.awaitSleeper("firstclaim-leases");
        time.advance(THIRD);
        eventually(() -> !kept.lease().equals(before));
      }
      assertThat(kept.isHeld()).isTrue();
      kept.letGo();
    } finally {
      enough.set(true);
      for (Thread thread : spinning) {
        thread.join();
      }
    }
  }

  // Clocks that leap

  @Test
  void leaseOfASuspendedMachine_isDoubtful_untilARenewalHasSucceeded() {
    KeptLease kept = kept();
    time.suspend(Duration.ofMinutes(10));

    assertThat(kept.isHeld()).isFalse();
    assertThatThrownBy(kept::ensureHeld)
        .isInstanceOf(LeaseLostException.class)
        .hasMessageContaining("leapt");
    assertThat(told).as("it is in doubt, not lost").hasValue(0);

    lookUntilRenewals(1);
    eventually(kept::isHeld);
    kept.ensureHeld();
  }

  @Test
  void leaseOfASuspendedMachine_thatAnotherHasTaken_isLostAtTheRenewal() {
    KeptLease kept = kept();
    time.suspend(Duration.ofMinutes(10));
    store.nextRenewal(new SettleResult.Lost("b"));

    lookUntilRenewals(1);

    eventually(() -> told.get() == 1);
    assertThat(kept.isHeld()).isFalse();
  }

  @Test
  void wallClockThatIsSet_putsALeaseInDoubt_whicheverWay() {
    KeptLease kept = kept();
    for (Duration skew : List.of(Duration.ofHours(1), Duration.ofHours(-1))) {
      time.setSkew(skew);
      assertThat(kept.isHeld()).as("%s", skew).isFalse();
    }
    time.setSkew(Duration.ofMillis(200));
    assertThat(kept.isHeld()).isTrue();
  }
}
