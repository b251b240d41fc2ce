package io.firstclaim.processor.engine.handler;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.keeper.KeptLease;
import io.firstclaim.lock.keeper.LeaseKeeper;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.processor.engine.handler.HandlerWatch.Interruption;
import io.firstclaim.processor.engine.handler.HandlerWatch.Watched;
import io.firstclaim.processor.engine.testing.TestTime;
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

/** The keeper looks by itself, every 25 ms; the time stands in between. */
class HandlerWatchTest {
  private static final Duration LEASE = Duration.ofMillis(1500);
  private static final Duration THIRD = LEASE.dividedBy(3);
  private static final Duration LIMIT = Duration.ofSeconds(6);
  private static final Duration NANO = Duration.ofNanos(1);

  private final TestTime time = TestTime.standing();
  private final FaultyStore store =
      new FaultyStore(
          new MemoryClaimStore(
              new MemoryClaimStore.Claims(),
              new ClaimSettings("test", "a/1", LEASE, ClaimSettings.LEAST_SKEW, Duration.ofDays(8)),
              time));
  private final LeaseKeeper keeper = new LeaseKeeper(store, time, true);
  private final HandlerWatch watch = new HandlerWatch(LIMIT);
  private final AtomicInteger abandoned = new AtomicInteger();
  private final List<Worker> workers = new ArrayList<>();

  @AfterEach
  void endWorkers() {
    workers.forEach(Worker::end);
  }

  private KeptLease kept(String id) {
    Claim claim = Claim.of(RecordId.of(id), Fingerprint.none(), time.now());
    return keeper.keep(((ClaimResult.Granted) store.claim(claim)).lease());
  }

  private Watched watched(KeptLease kept) {
    return watch.watch(kept, abandoned::incrementAndGet);
  }

  /** Returns when the keeper has looked at everything since. */
  private void fence() throws InterruptedException {
    for (int i = 0; i < 2; i++) {
      var looked = new CountDownLatch(1);
      KeptLease other = kept("fence-" + i + "-" + time.now().ticks());
      other.after(Duration.ZERO, looked::countDown);
      looked.await();
      other.letGo();
    }
  }

  /** A handler's thread: works until it is told to end, whatever interrupts it. */
  private final class Worker {
    private final AtomicInteger interrupts = new AtomicInteger();
    private final SynchronousQueue<Boolean> orders = new SynchronousQueue<>();
    private final CountDownLatch began = new CountDownLatch(1);
    private final AtomicReference<Boolean> mine = new AtomicReference<>();
    private final AtomicReference<Boolean> interruptedAfterwards = new AtomicReference<>();
    private final Thread thread;

    Worker(Watched watched) {
      thread =
          Thread.startVirtualThread(
              () -> {
                watched.beginWork();
                began.countDown();
                awaitOrder();
                mine.set(watched.endWork());
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
        return orders.offer(true, 5, TimeUnit.MINUTES);
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

  /** The lease is renewed again and again while this time passes. */
  private void passKept(KeptLease kept, Duration by) {
    for (Duration at = Duration.ZERO; at.compareTo(by) < 0; at = at.plus(THIRD)) {
      Lease before = kept.lease();
      time.advance(THIRD);
      eventually(() -> !kept.lease().equals(before));
    }
  }

  @Test
  void lostLease_interruptsTheHandler_once() throws InterruptedException {
    KeptLease kept = kept("order-1");
    Watched watched = watched(kept);
    Worker worker = new Worker(watched).begun();
    store.nextRenewal(new SettleResult.Lost("b/2"));
    time.advance(THIRD);

    eventually(() -> worker.interrupts.get() == 1);
    assertThat(watched.interruption()).isEqualTo(Interruption.LEASE_LOST);

    time.advance(LIMIT);
    fence();
    watch.interruptAll();
    assertThat(worker.endsWork()).isTrue();
    assertThat(worker.interrupts).hasValue(1);
    assertThat(watched.interruption()).isEqualTo(Interruption.LEASE_LOST);
  }

  @Test
  void leaseThatRunsOut_interruptsTheHandler() throws InterruptedException {
    Watched watched = watched(kept("order-1"));
    Worker worker = new Worker(watched).begun();
    store.setDown(true);
    time.advance(LEASE);

    eventually(() -> worker.interrupts.get() == 1);
    assertThat(watched.interruption()).isEqualTo(Interruption.LEASE_LOST);
  }

  @Test
  void handlerWhoseTimeIsUp_isInterrupted_once_notBefore() throws InterruptedException {
    KeptLease kept = kept("order-1");
    Watched watched = watched(kept);
    Worker worker = new Worker(watched).begun();
    passKept(kept, LIMIT.minus(THIRD));
    time.advance(THIRD.minus(NANO));
    fence();
    assertThat(watched.interruption()).isNull();

    time.advance(NANO);
    eventually(() -> worker.interrupts.get() == 1);
    fence();

    assertThat(worker.endsWork()).isTrue();
    assertThat(worker.interrupts).hasValue(1);
    assertThat(watched.interruption()).isEqualTo(Interruption.TIMED_OUT);
  }

  @Test
  void stop_interruptsEveryHandler_ofLeasesToComeToo() throws InterruptedException {
    Watched early = watched(kept("order-1"));
    Worker first = new Worker(early).begun();

    watch.interruptAll();
    Watched late = watched(kept("order-2"));
    Worker second = new Worker(late).begun();

    eventually(() -> first.interrupts.get() == 1 && second.interrupts.get() == 1);
    assertThat(early.interruption()).isEqualTo(Interruption.STOPPED);
    assertThat(late.interruption()).isEqualTo(Interruption.STOPPED);
  }

  @Test
  void handlerThatIsThrough_isInterruptedNoMore() throws InterruptedException {
    Watched watched = watched(kept("order-1"));
    Worker worker = new Worker(watched).begun();
    assertThat(worker.endsWork()).isTrue();

    time.advance(LIMIT.plus(LEASE));
    fence();
    watch.interruptAll();

    assertThat(worker.go()).isTrue();
    eventually(() -> worker.interruptedAfterwards.get() != null);
    assertThat(worker.interruptedAfterwards).hasValue(false);
    assertThat(abandoned).hasValue(0);
  }

  @Test
  void handlerThatHeedsNoInterrupt_isAbandoned_aLeaseAfterItsTimeIsUp_andItsLeaseLetGo()
      throws InterruptedException {
    KeptLease kept = kept("order-1");
    Worker worker = new Worker(watched(kept)).begun();
    passKept(kept, LIMIT.plus(LEASE).minus(THIRD));
    time.advance(THIRD.minus(NANO));
    fence();
    assertThat(abandoned).hasValue(0);
    assertThat(kept.isHeld()).isTrue();

    time.advance(NANO);
    fence();

    assertThat(abandoned).hasValue(1);
    assertThat(kept.isHeld()).isFalse();
    assertThat(worker.endsWork()).isFalse();
  }

  @Test
  void abandonThatThrows_keepsTheOthersGoing() throws InterruptedException {
    Watched bad =
        watch.watch(
            kept("bad"),
            () -> {
              throw new AssertionError("no thread to go on with");
            });
    Worker _ = new Worker(bad).begun();
    time.advance(LIMIT.plus(LEASE));

    passKept(kept("good"), LEASE);
  }
}
