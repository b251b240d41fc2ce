package io.firstclaim.processor.engine.admission;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.admission.InFlightLimit.Permit;
import io.firstclaim.processor.engine.admission.InFlightLimit.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class InFlightLimitTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final long MUCH = Long.MAX_VALUE / 2;

  private final List<Usage> partitions = Stream.generate(Usage::new).limit(4).toList();
  private final Map<Usage, Queue<Permit>> permits = new ConcurrentHashMap<>();
  private final Usage partition = partitions.getFirst();

  /** Waits for a permit for a record of this partition. */
  private void acquire(InFlightLimit limit, Usage usage) throws InterruptedException {
    Semaphore called = new Semaphore(0);
    Permit permit =
        limit.permit(new TestCandidate("r", "p", usage, List.of(), _ -> called.release()));
    try {
      while (permit.pass() != null) {
        called.acquire();
      }
    } catch (InterruptedException e) {
      permit.leave();
      throw e;
    }
    permits.computeIfAbsent(usage, _ -> new ConcurrentLinkedQueue<>()).add(permit);
  }

  private void release(Usage usage) {
    Objects.requireNonNull(permits.get(usage)).remove().leave();
  }

  private InFlightLimit limit(int maxInFlight, int maxParked, long maxBuffered) {
    return limit(1, maxInFlight, maxParked, maxBuffered);
  }

  private InFlightLimit limit(int sharing, int maxInFlight, int maxParked, long maxBuffered) {
    InFlightLimit limit = new InFlightLimit(maxInFlight, maxParked, maxBuffered);
    limit.share(partitions.subList(0, sharing));
    return limit;
  }

  private static Usage arrive(InFlightLimit limit, Usage of) {
    limit.arrive(of, 0);
    return of;
  }

  private static Collection<Usage> room(InFlightLimit limit) {
    return limit.awaitRoom(Duration.ZERO);
  }

  private boolean hasRoom(InFlightLimit limit) {
    return room(limit).contains(partition);
  }

  /** How many records arrive, of a partition that takes what it gets and gives nothing back. */
  private int taken(InFlightLimit limit, Usage by) throws InterruptedException {
    int taken = 0;
    while (room(limit).contains(by)) {
      Usage _ = arrive(limit, by);
      taken++;
    }
    return taken;
  }

  @Test
  void inFlight_neverExceedsItsBound_andAllGetThrough() throws InterruptedException {
    InFlightLimit limit = limit(4, 7, 10_000, MUCH);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      Usage usage = arrive(limit, partitions.get(i % 4));
      threads.add(
          Thread.startVirtualThread(
              () -> {
                try {
                  for (int round = 0; round < 5; round++) {
                    acquire(limit, usage);
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    Thread.onSpinWait();
                    inside.decrementAndGet();
                    release(usage);
                  }
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                } finally {
                  limit.depart(usage, 0);
                }
              }));
    }
    for (Thread thread : threads) {
      assertThat(thread.join(LONG)).isTrue();
    }

    assertThat(most.get()).isBetween(1, 7);
    assertThat(limit.isEmpty()).isTrue();
    assertThat(limit.inFlight()).isZero();
    assertThat(limit.parked()).isZero();
    assertThat(room(limit)).hasSize(4);
  }

  @Test
  void fullFlight_leavesNoRoom_alsoForThoseThatWaitForAPermit() throws InterruptedException {
    InFlightLimit limit = limit(2, 100, MUCH);
    Usage _ = arrive(limit, partition);
    acquire(limit, partition);
    assertThat(hasRoom(limit)).isTrue();
    Usage _ = arrive(limit, partition);
    acquire(limit, partition);

    assertThat(hasRoom(limit)).isFalse();
    assertThat(limit.inFlight()).isEqualTo(2);
    assertThat(limit.parked()).isZero();
    release(partition);
    assertThat(hasRoom(limit)).isTrue();
    assertThat(limit.parked()).isOne();
  }

  @Test
  void parkedRecords_haveABoundOfTheirOwn() throws InterruptedException {
    InFlightLimit limit = limit(1, 3, MUCH);
    Usage _ = arrive(limit, partition);
    acquire(limit, partition);
    release(partition); // now it waits for something
    Usage last = arrive(limit, partition);
    assertThat(hasRoom(limit)).isTrue();
    Usage _ = arrive(limit, partition);

    assertThat(hasRoom(limit)).isFalse();
    assertThat(limit.parked()).isEqualTo(3);
    limit.depart(last, 0);
    assertThat(hasRoom(limit)).isTrue();
  }

  @Test
  void bytes_areBounded_andOneRecordAlwaysEnters() {
    InFlightLimit limit = limit(100, 100, 10);
    assertThat(hasRoom(limit)).isTrue();
    limit.arrive(partition, 11);

    assertThat(hasRoom(limit)).isFalse();
    assertThat(limit.buffered()).isEqualTo(11);

    limit.depart(partition, 11);
    assertThat(hasRoom(limit)).isTrue();
    assertThat(limit.buffered()).isZero();
  }

  @Test
  void partitionThatGivesNothingBack_leavesTheOthersTheirHalf() throws InterruptedException {
    InFlightLimit limit = limit(4, 100, 80, MUCH);

    assertThat(taken(limit, partitions.get(0))).isEqualTo(40 + 10);
    for (Usage other : partitions.subList(1, 4)) {
      assertThat(taken(limit, other)).isEqualTo(10);
    }
    assertThat(limit.parked()).isEqualTo(80);
  }

  @Test
  void lonePartition_hasEverything() throws InterruptedException {
    assertThat(taken(limit(100, 80, MUCH), partition)).isEqualTo(80);
  }

  @Test
  void fewerPermitsThanPartitions_areForWhoeverComesFirst() throws InterruptedException {
    InFlightLimit limit = limit(4, 100, 3, MUCH);

    assertThat(taken(limit, partition)).isEqualTo(3);
  }

  @Test
  void permits_areKeptForTheOtherPartitions() throws InterruptedException {
    InFlightLimit limit = limit(2, 8, 100, MUCH);
    for (int i = 0; i < 6; i++) {
      acquire(limit, partitions.get(0));
    }

    assertThat(limit.isFull(partitions.get(0))).isTrue();
    assertThat(limit.isFull(partitions.get(1))).isFalse();
    acquire(limit, partitions.get(1));
    acquire(limit, partitions.get(1));
    assertThat(limit.isFull(partitions.get(1))).isTrue();
    assertThat(limit.inFlight()).isEqualTo(8);
  }

  @Test
  void partitionThatComesLater_getsItsPartOfWhatBecomesFree() throws InterruptedException {
    InFlightLimit limit = limit(1, 4, 100, MUCH);
    for (int i = 0; i < 4; i++) {
      acquire(limit, partition);
    }
    limit.share(partitions.subList(0, 2));
    CountDownLatch off = new CountDownLatch(1);
    Thread waiting =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    acquire(limit, partitions.get(1));
                    off.countDown();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
    eventually(() -> waiting.getState() == Thread.State.WAITING);

    release(partition);

    assertThat(waiting.join(LONG)).isTrue();
    assertThat(off.getCount()).isZero();
    assertThat(limit.isFull(partition)).isTrue();
  }

  @Test
  void whoeverIsInterruptedWhileItWaits_takesNoPermit() throws InterruptedException {
    InFlightLimit limit = limit(1, 100, MUCH);
    Usage _ = arrive(limit, partition);
    acquire(limit, partition);
    Usage _ = arrive(limit, partition);
    AtomicReference<@Nullable Exception> thrown = new AtomicReference<>();
    Thread waiting =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    acquire(limit, partition);
                  } catch (InterruptedException e) {
                    thrown.set(e);
                  }
                });
    eventually(() -> waiting.getState() == Thread.State.WAITING);
    assertThat(hasRoom(limit)).isFalse();

    waiting.interrupt();
    assertThat(waiting.join(LONG)).isTrue();

    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
    release(partition);
    assertThat(hasRoom(limit)).isTrue();
    assertThat(limit.inFlight()).isZero();
  }

  @Test
  void roomIsAwaited_noLongerThanAsked() throws InterruptedException {
    InFlightLimit limit = limit(1, 100, MUCH);
    acquire(limit, partition);

    assertThat(limit.awaitRoom(Duration.ofMillis(10))).isEmpty();
  }

  @Test
  void roomThatComes_wakesThePoller() throws InterruptedException {
    for (boolean byRelease : new boolean[] {true, false}) {
      InFlightLimit limit = limit(byRelease ? 1 : 10, byRelease ? 100 : 1, MUCH);
      Usage usage = arrive(limit, partition);
      if (byRelease) {
        acquire(limit, partition);
      }
      AtomicReference<@Nullable Collection<Usage>> room = new AtomicReference<>();
      Thread poller = Thread.ofPlatform().start(() -> room.set(limit.awaitRoom(LONG)));
      eventually(() -> poller.getState() == Thread.State.TIMED_WAITING);
      assertThat(room.get()).isNull();

      if (byRelease) {
        release(partition);
      }
      limit.depart(usage, 0);

      assertThat(poller.join(LONG)).isTrue();
      assertThat(room.get()).containsExactly(partition);
    }
  }
}
