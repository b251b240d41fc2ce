package io.firstclaim.processor.engine.claim;

import static io.firstclaim.processor.engine.claim.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.claim.FaultyStore.Fault;
import io.firstclaim.processor.engine.claim.FaultyStore.Hold;
import io.firstclaim.processor.engine.claim.FaultyStore.Op;
import io.firstclaim.processor.engine.claim.HeldLease.Interruption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class HeldLeaseTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration THIRD = Duration.ofSeconds(10);
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final TestTime time = TestTime.standing();
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final FaultyStore store = new FaultyStore(zone("a/1"));
  private final LeaseKeeper keeper = new LeaseKeeper(store, time, true, LIMIT);
  private final AtomicInteger abandoned = new AtomicInteger();
  private final List<Worker> workers = new ArrayList<>();

  @AfterEach
  void endWorkers() {
    workers.forEach(Worker::end);
  }

  private ClaimStore zone(String holder) {
    return new MemoryClaimStore(
        claims,
        new ClaimSettings("test", holder, LEASE, Duration.ofSeconds(1), Duration.ofDays(8)),
        time);
  }

  private Lease granted(String id) {
    Claim claim = Claim.of(RecordId.of(id), Fingerprint.none(), time.now());
    return ((ClaimResult.Granted) store.claim(claim)).lease();
  }

  private HeldLease held() {
    return keeper.keep(granted("order-1"), abandoned::incrementAndGet);
  }

  /** A handler's thread: works until it is told to end, whatever interrupts it. */
  private final class Worker {
    private final AtomicInteger interrupts = new AtomicInteger();
    private final SynchronousQueue<Boolean> orders = new SynchronousQueue<>();
    private final CountDownLatch began = new CountDownLatch(1);
    private final AtomicReference<Boolean> mine = new AtomicReference<>();
    private final AtomicReference<Boolean> interruptedAfterwards = new AtomicReference<>();
    private final Thread thread;

    Worker(HeldLease lease) {
      thread =
          Thread.startVirtualThread(
              () -> {
                lease.beginWork();
                began.countDown();
                awaitOrder();
                mine.set(lease.endWork());
                try {
                  orders.take();
                  interruptedAfterwards.set(Thread.currentThread().isInterrupted());
                } catch (InterruptedException e) {
                  interruptedAfterwards.set(true);
                }
              });
      workers.add(this);
    }

    Worker begun() throws InterruptedException {
      began.await();
      return this;
    }

    private void awaitOrder() {
      while (true) {
        try {
          orders.take();
          return;
        } catch (InterruptedException e) {
          interrupts.incrementAndGet();
        }
      }
    }

    /** Has it go one step further; false if it takes no orders any more. */
    boolean go() {
      try {
        return orders.offer(true, 5, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    boolean endsWork() {
      assertThat(go()).isTrue();
      eventually(() -> mine.get() != null);
      return mine.get();
    }

    void end() {
      while (thread.isAlive()) {
        boolean _ = orders.offer(true);
        Thread.onSpinWait();
      }
    }
  }

  /** Returns when every renewal that was due before is through. */
  private void fence() {
    for (int i = 0; i < 3; i++) {
      HeldLease other = keeper.keep(granted("fence-" + time.now().ticks()), () -> {});
      Lease first = other.lease();
      time.advance(THIRD);
      keeper.look();
      eventually(() -> !other.lease().equals(first));
      keeper.drop(other);
    }
  }

  @Test
  void leaseIsRenewed_atAThirdOfItsLength_notBefore() {
    HeldLease held = held();
    Lease first = held.lease();

    time.advance(THIRD.minusNanos(1));
    keeper.look();
    time.advance(Duration.ofNanos(1));
    keeper.look();

    eventually(() -> !held.lease().equals(first));
    assertThat(held.lease().start()).isEqualTo(time.now());
    assertThat(store.calls(Op.RENEW)).isOne();
    assertThat(held.lease().token()).isEqualTo(first.token());
  }

  @Test
  void leaseIsRenewed_again_forAsLongAsItIsKept() {
    HeldLease held = held();
    for (int i = 0; i < 20; i++) {
      Lease before = held.lease();
      time.advance(THIRD);
      keeper.look();
      eventually(() -> !held.lease().equals(before));
    }
    assertThat(held.isHeld()).isTrue();
    assertThat(held.interruption()).isNull();
  }

  @Test
  void renewal_needsNothingOfTheWorkersThread() throws InterruptedException {
    HeldLease held = held();
    Lease first = held.lease();
    Worker worker = new Worker(held).begun();
    worker.end(); // its thread is gone

    time.advance(THIRD);
    keeper.look();

    eventually(() -> !held.lease().equals(first));
  }

  @Test
  void keepersOwnThread_looksRegularly_untilItIsInterrupted() throws InterruptedException {
    HeldLease held = held();
    Lease first = held.lease();
    time.advance(THIRD);

    Thread thread = keeper.start(Duration.ofMillis(24));
    eventually(() -> !held.lease().equals(first));
    thread.interrupt();

    assertThat(thread.join(Duration.ofSeconds(5))).isTrue();
  }

  @Test
  void renewalWithoutAnAnswer_isTriedAgain_aSixthOfTheLeaseLater() {
    HeldLease held = held();
    Lease first = held.lease();
    store.next(Op.RENEW, Fault.LOST_REQUEST);
    time.advance(THIRD);
    keeper.look();
    eventually(() -> store.calls(Op.RENEW) == 1);

    time.advance(Duration.ofSeconds(5));
    eventually(
        () -> {
          keeper.look();
          return !held.lease().equals(first);
        });

    assertThat(store.calls(Op.RENEW)).isEqualTo(2);
    assertThat(held.isHeld()).isTrue();
  }

  @Test
  void renewalWhoseAnswerWasLost_isRecognised() {
    HeldLease held = held();
    Lease first = held.lease();
    store.next(Op.RENEW, Fault.LOST_ANSWER);
    time.advance(THIRD);
    keeper.look();
    eventually(() -> store.calls(Op.RENEW) == 1);

    time.advance(Duration.ofSeconds(5));
    eventually(
        () -> {
          keeper.look();
          return !held.lease().equals(first);
        });

    assertThat(held.settle(lease -> store.complete(lease, null)))
        .isInstanceOf(SettleResult.Settled.class);
  }

  @Test
  void storeThatThrows_endsNoKeeping() {
    HeldLease held = held();
    Lease first = held.lease();
    store.next(Op.RENEW, Fault.DEFECT, Fault.ERROR);
    for (int calls = 1; calls <= 2; calls++) {
      int expected = calls;
      time.advance(calls == 1 ? THIRD : Duration.ofSeconds(5));
      eventually(
          () -> {
            keeper.look();
            return store.calls(Op.RENEW) == expected;
          });
    }

    time.advance(Duration.ofSeconds(5));
    eventually(
        () -> {
          keeper.look();
          return !held.lease().equals(first);
        });
    assertThat(held.interruption()).isNull();
  }

  @Test
  void abandonThatThrows_keepsTheOthersGoing() throws InterruptedException {
    HeldLease bad =
        keeper.keep(
            granted("bad"),
            () -> {
              throw new AssertionError("no thread to go on with");
            });
    Worker _ = new Worker(bad).begun();
    time.advance(LIMIT.plus(LEASE));
    HeldLease good = held();
    Lease first = good.lease();
    time.advance(THIRD);

    keeper.look();

    eventually(() -> !good.lease().equals(first));
  }

  @Test
  void fewRenewalsRunAtOnce_andAllHaveTheirTurn() {
    Hold hold = store.hold(Op.RENEW);
    List<HeldLease> many = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      many.add(keeper.keep(granted("many-" + i), () -> {}));
    }
    time.advance(THIRD);
    keeper.look();
    eventually(() -> hold.arrived() >= 32);
    assertThat(hold.arrived()).isEqualTo(32);

    hold.release();

    eventually(() -> many.stream().allMatch(held -> held.lease().start().equals(time.now())));
  }

  @Test
  void lostLease_interruptsTheWorker_once() throws InterruptedException {
    HeldLease held = held();
    Worker worker = new Worker(held).begun();
    store.nextRenewal(new SettleResult.Lost("b/2"));
    time.advance(THIRD);
    keeper.look();

    eventually(() -> worker.interrupts.get() == 1);
    assertThat(held.interruption()).isEqualTo(Interruption.LEASE_LOST);
    assertThat(held.isHeld()).isFalse();

    time.advance(LIMIT);
    keeper.look();
    keeper.interruptAll();
    assertThat(worker.endsWork()).isTrue();
    assertThat(worker.interrupts).hasValue(1);
    assertThat(held.interruption()).isEqualTo(Interruption.LEASE_LOST);
  }

  @Test
  void lostLease_isNotRenewedAnyMore() {
    HeldLease _ = held();
    store.nextRenewal(new SettleResult.Lost("b/2"));
    time.advance(THIRD);
    keeper.look();
    eventually(() -> store.calls(Op.RENEW) == 1);

    int before = store.calls(Op.RENEW);
    fence();

    assertThat(store.calls(Op.RENEW) - before).isEqualTo(3); // the fences' own
  }

  @Test
  void leaseThatRunsOutUnrenewed_isLost_andItsWorkerInterrupted() throws InterruptedException {
    store.setDown(true);
    store.setDown(false);
    HeldLease held = held();
    store.setDown(true);
    Worker worker = new Worker(held).begun();

    time.advance(LEASE.minusNanos(1));
    keeper.look();
    assertThat(held.isHeld()).isTrue();
    assertThat(held.interruption()).isNull();

    time.advance(Duration.ofNanos(1));
    assertThat(held.isHeld()).isFalse();
    keeper.look();
    eventually(() -> worker.interrupts.get() == 1);
    assertThat(held.interruption()).isEqualTo(Interruption.LEASE_LOST);
  }

  @Test
  void withoutRenewal_theLeaseIsLostAtItsEnd() throws InterruptedException {
    LeaseKeeper still = new LeaseKeeper(store, time, false, LIMIT);
    HeldLease held = still.keep(granted("order-1"), () -> {});
    Worker worker = new Worker(held).begun();

    time.advance(LEASE.minusNanos(1));
    still.look();
    assertThat(held.isHeld()).isTrue();
    time.advance(Duration.ofNanos(1));
    still.look();

    eventually(() -> worker.interrupts.get() == 1);
    assertThat(held.interruption()).isEqualTo(Interruption.LEASE_LOST);
    assertThat(store.calls(Op.RENEW)).isZero();
  }

  @Test
  void workerWhoseTimeIsUp_isInterrupted_once() throws InterruptedException {
    HeldLease held = held();
    Worker worker = new Worker(held).begun();
    for (Duration at = Duration.ZERO; at.compareTo(LIMIT) < 0; at = at.plus(THIRD)) {
      Lease before = held.lease();
      assertThat(held.interruption()).isNull();
      time.advance(THIRD);
      keeper.look();
      eventually(() -> !held.lease().equals(before));
    }

    eventually(() -> worker.interrupts.get() == 1);
    keeper.look();
    keeper.look();
    assertThat(worker.endsWork()).isTrue();
    assertThat(worker.interrupts).hasValue(1);
    assertThat(held.interruption()).isEqualTo(Interruption.TIMED_OUT);
  }

  @Test
  void stop_interruptsEveryWorker() throws InterruptedException {
    HeldLease held = held();
    Worker worker = new Worker(held).begun();

    keeper.interruptAll();

    eventually(() -> worker.interrupts.get() == 1);
    assertThat(held.interruption()).isEqualTo(Interruption.STOPPED);
  }

  @Test
  void leaseThatComesAfterTheStop_interruptsItsWorkerFromTheBeginning()
      throws InterruptedException {
    keeper.interruptAll();

    HeldLease held = held();
    Worker worker = new Worker(held).begun();

    eventually(() -> worker.interrupts.get() == 1);
    assertThat(held.interruption()).isEqualTo(Interruption.STOPPED);
  }

  @Test
  void workerThatIsThrough_isInterruptedNoMore() throws InterruptedException {
    HeldLease held = held();
    Worker worker = new Worker(held).begun();
    assertThat(worker.endsWork()).isTrue();

    time.advance(LIMIT.plus(LEASE));
    keeper.look();
    keeper.interruptAll();

    assertThat(worker.go()).isTrue();
    eventually(() -> worker.interruptedAfterwards.get() != null);
    assertThat(worker.interruptedAfterwards).hasValue(false);
    assertThat(abandoned).hasValue(0);
  }

  @Test
  void interruptionThatNobodyHeeded_isGoneAfterTheWork() {
    HeldLease held = held();
    held.beginWork();
    held.interrupt(Interruption.TIMED_OUT);

    assertThat(Thread.currentThread().isInterrupted()).isTrue();
    assertThat(held.endWork()).isTrue();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void settle_waitsForTheRenewalUnderWay_andUsesItsLease() throws InterruptedException {
    HeldLease held = held();
    Lease first = held.lease();
    Hold hold = store.hold(Op.RENEW);
    time.advance(THIRD);
    keeper.look();
    eventually(() -> hold.arrived() == 1);
    AtomicReference<SettleResult> result = new AtomicReference<>();
    Thread settling =
        Thread.ofPlatform()
            .start(() -> result.set(held.settle(lease -> store.complete(lease, null))));
    eventually(() -> settling.getState() == Thread.State.WAITING);
    assertThat(store.calls(Op.COMPLETE)).isZero();

    hold.release();

    assertThat(settling.join(Duration.ofSeconds(5))).isTrue();
    assertThat(result.get()).isInstanceOf(SettleResult.Settled.class);
    assertThat(held.lease().nonce()).isEqualTo(first.nonce().next());
    assertThat(store.leases()).last().isEqualTo(held.lease());
  }

  @Test
  void settledLease_isNotRenewedAnyMore() {
    HeldLease held = held();
    assertThat(held.settle(lease -> store.complete(lease, null)))
        .isInstanceOf(SettleResult.Settled.class);

    fence();

    assertThat(store.calls(Op.RENEW)).isEqualTo(3); // the fences' own
  }

  @Test
  void droppedLease_isNotRenewedAnyMore() {
    keeper.drop(held());

    fence();

    assertThat(store.calls(Op.RENEW)).isEqualTo(3); // the fences' own
  }

  @Test
  void leaseWhoseSettlementIsUnknown_isStillRenewed() {
    HeldLease held = held();
    Lease first = held.lease();
    store.next(Op.COMPLETE, Fault.LOST_REQUEST);
    assertThat(held.settle(lease -> store.complete(lease, null)))
        .isInstanceOf(SettleResult.Unknown.class);

    time.advance(THIRD);
    keeper.look();
    eventually(() -> !held.lease().equals(first));

    assertThat(held.settle(lease -> store.complete(lease, null)))
        .isInstanceOf(SettleResult.Settled.class);
  }

  @Test
  void workerThatHeedsNoInterrupt_isAbandoned_aLeaseAfterItsTimeIsUp() throws InterruptedException {
    HeldLease held = held();
    Worker worker = new Worker(held).begun();
    time.advance(LIMIT.plus(LEASE).minusNanos(1));
    keeper.look();
    assertThat(abandoned).hasValue(0);

    time.advance(Duration.ofNanos(1));
    keeper.look();
    keeper.look();

    assertThat(abandoned).hasValue(1);
    assertThat(worker.endsWork()).isFalse();
  }
}
