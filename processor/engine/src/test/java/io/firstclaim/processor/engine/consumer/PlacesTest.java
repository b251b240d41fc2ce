package io.firstclaim.processor.engine.consumer;

import static io.firstclaim.processor.engine.claim.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.claim.TestTime;
import io.firstclaim.processor.engine.trace.Trace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PlacesTest {
  private static final Duration LONG = Duration.ofSeconds(15);
  private static final long MUCH = Long.MAX_VALUE / 2;

  private final TestTime time = TestTime.standing();
  private final List<AssignedPartition> partitions =
      IntStream.range(0, 4)
          .mapToObj(i -> new AssignedPartition(new TopicPartition("in", i)))
          .toList();
  private final AssignedPartition partition = partitions.getFirst();
  private long offset;

  private Places places(int maxInFlight, int maxParked, long maxBuffered) {
    return places(1, maxInFlight, maxParked, maxBuffered);
  }

  private Places places(int sharing, int maxInFlight, int maxParked, long maxBuffered) {
    Places places = new Places(maxInFlight, maxParked, maxBuffered);
    places.share(partitions.subList(0, sharing));
    return places;
  }

  private Delivery delivery(AssignedPartition of, String value) {
    var record = TestInstance.record(null, value, of.id().partition(), offset++);
    return new Delivery(record, of, of.delivered(record), time.now(), null, () -> {}, Trace.NONE);
  }

  private Delivery arrive(Places places, AssignedPartition of) {
    Delivery delivery = delivery(of, "");
    places.arrive(delivery);
    return delivery;
  }

  private static Collection<AssignedPartition> room(Places places) {
    return places.awaitRoom(Duration.ZERO);
  }

  private boolean hasRoom(Places places) {
    return room(places).contains(partition);
  }

  /** How many records arrive, of a partition that takes what it gets and gives nothing back. */
  private int taken(Places places, AssignedPartition by) throws InterruptedException {
    int taken = 0;
    while (room(places).contains(by)) {
      Delivery _ = arrive(places, by);
      taken++;
    }
    return taken;
  }

  @Test
  void inFlight_neverExceedsItsBound_andAllGetThrough() throws InterruptedException {
    Places places = places(4, 7, 10_000, MUCH);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      Delivery delivery = arrive(places, partitions.get(i % 4));
      threads.add(
          Thread.startVirtualThread(
              () -> {
                try {
                  for (int round = 0; round < 5; round++) {
                    places.takeOff(delivery.partition());
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    Thread.onSpinWait();
                    inside.decrementAndGet();
                    places.land(delivery.partition());
                  }
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                } finally {
                  places.depart(delivery);
                }
              }));
    }
    for (Thread thread : threads) {
      assertThat(thread.join(Duration.ofSeconds(10))).isTrue();
    }

    assertThat(most.get()).isBetween(1, 7);
    assertThat(places.isEmpty()).isTrue();
    assertThat(places.inFlight()).isZero();
    assertThat(places.parked()).isZero();
    assertThat(room(places)).hasSize(4);
  }

  @Test
  void fullFlight_leavesNoRoom_alsoForThoseThatWaitForAPlace() throws InterruptedException {
    Places places = places(2, 100, MUCH);
    Delivery _ = arrive(places, partition);
    places.takeOff(partition);
    assertThat(hasRoom(places)).isTrue();
    Delivery _ = arrive(places, partition);
    places.takeOff(partition);

    assertThat(hasRoom(places)).isFalse();
    assertThat(places.inFlight()).isEqualTo(2);
    assertThat(places.parked()).isZero();
    places.land(partition);
    assertThat(hasRoom(places)).isTrue();
    assertThat(places.parked()).isOne();
  }

  @Test
  void parkedRecords_haveABoundOfTheirOwn() throws InterruptedException {
    Places places = places(1, 3, MUCH);
    Delivery _ = arrive(places, partition);
    places.takeOff(partition);
    places.land(partition); // now it waits for something
    Delivery last = arrive(places, partition);
    assertThat(hasRoom(places)).isTrue();
    Delivery _ = arrive(places, partition);

    assertThat(hasRoom(places)).isFalse();
    assertThat(places.parked()).isEqualTo(3);
    places.depart(last);
    assertThat(hasRoom(places)).isTrue();
  }

  @Test
  void bytes_areBounded_andOneRecordAlwaysEnters() {
    Places places = places(100, 100, 10);
    Delivery large = delivery(partition, "more than ten bytes");
    assertThat(hasRoom(places)).isTrue();
    places.arrive(large);

    assertThat(hasRoom(places)).isFalse();
    assertThat(places.buffered()).isEqualTo("more than ten bytes".length());

    places.depart(large);
    assertThat(hasRoom(places)).isTrue();
    assertThat(places.buffered()).isZero();
  }

  @Test
  void partitionThatGivesNothingBack_leavesTheOthersTheirHalf() throws InterruptedException {
    Places places = places(4, 100, 80, MUCH);

    assertThat(taken(places, partitions.get(0))).isEqualTo(40 + 10);
    for (AssignedPartition other : partitions.subList(1, 4)) {
      assertThat(taken(places, other)).isEqualTo(10);
    }
    assertThat(places.parked()).isEqualTo(80);
  }

  @Test
  void lonePartition_hasEverything() throws InterruptedException {
    assertThat(taken(places(100, 80, MUCH), partition)).isEqualTo(80);
  }

  @Test
  void fewerPlacesThanPartitions_areForWhoeverComesFirst() throws InterruptedException {
    Places places = places(4, 100, 3, MUCH);

    assertThat(taken(places, partition)).isEqualTo(3);
  }

  @Test
  void placesInFlight_areKeptForTheOtherPartitions() throws InterruptedException {
    Places places = places(2, 8, 100, MUCH);
    for (int i = 0; i < 6; i++) {
      places.takeOff(partitions.get(0));
    }

    assertThat(places.isFull(partitions.get(0))).isTrue();
    assertThat(places.isFull(partitions.get(1))).isFalse();
    places.takeOff(partitions.get(1));
    places.takeOff(partitions.get(1));
    assertThat(places.isFull(partitions.get(1))).isTrue();
    assertThat(places.inFlight()).isEqualTo(8);
  }

  @Test
  void partitionThatComesLater_getsItsPartOfWhatBecomesFree() throws InterruptedException {
    Places places = places(1, 4, 100, MUCH);
    for (int i = 0; i < 4; i++) {
      places.takeOff(partition);
    }
    places.share(partitions.subList(0, 2));
    CountDownLatch off = new CountDownLatch(1);
    Thread waiting =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    places.takeOff(partitions.get(1));
                    off.countDown();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
    eventually(() -> waiting.getState() == Thread.State.WAITING);

    places.land(partition);

    assertThat(waiting.join(LONG)).isTrue();
    assertThat(off.getCount()).isZero();
    assertThat(places.isFull(partition)).isTrue();
  }

  @Test
  void whoeverIsInterruptedWhileItWaits_takesNoPlace() throws InterruptedException {
    Places places = places(1, 100, MUCH);
    Delivery _ = arrive(places, partition);
    places.takeOff(partition);
    Delivery _ = arrive(places, partition);
    AtomicReference<@Nullable Exception> thrown = new AtomicReference<>();
    Thread waiting =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    places.takeOff(partition);
                  } catch (InterruptedException e) {
                    thrown.set(e);
                  }
                });
    eventually(() -> waiting.getState() == Thread.State.WAITING);
    assertThat(hasRoom(places)).isFalse();

    waiting.interrupt();
    assertThat(waiting.join(LONG)).isTrue();

    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
    places.land(partition);
    assertThat(hasRoom(places)).isTrue();
    assertThat(places.inFlight()).isZero();
  }

  @Test
  void roomIsAwaited_noLongerThanAsked() throws InterruptedException {
    Places places = places(1, 100, MUCH);
    places.takeOff(partition);

    assertThat(places.awaitRoom(Duration.ofMillis(10))).isEmpty();
  }

  @Test
  void roomThatComes_wakesThePoller() throws InterruptedException {
    for (boolean byLanding : new boolean[] {true, false}) {
      Places places = places(byLanding ? 1 : 10, byLanding ? 100 : 1, MUCH);
      Delivery delivery = arrive(places, partition);
      if (byLanding) {
        places.takeOff(partition);
      }
      AtomicReference<@Nullable Collection<AssignedPartition>> room = new AtomicReference<>();
      Thread poller = Thread.ofPlatform().start(() -> room.set(places.awaitRoom(LONG)));
      eventually(() -> poller.getState() == Thread.State.TIMED_WAITING);
      assertThat(room.get()).isNull();

      if (byLanding) {
        places.land(partition);
      }
      places.depart(delivery);

      assertThat(poller.join(Duration.ofSeconds(5))).isTrue();
      assertThat(room.get()).containsExactly(partition);
    }
  }
}
