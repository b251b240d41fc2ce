package io.firstclaim.processor.engine.consumer;

import static io.firstclaim.processor.engine.claim.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class PlacesTest {
  private static final Duration LONG = Duration.ofSeconds(15);

  @Test
  void inFlight_neverExceedsItsBound_andAllGetThrough() throws InterruptedException {
    Places places = new Places(7, 10_000);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      places.arrive();
      threads.add(
          Thread.startVirtualThread(
              () -> {
                try {
                  for (int round = 0; round < 5; round++) {
                    places.takeOff();
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    Thread.onSpinWait();
                    inside.decrementAndGet();
                    places.land();
                  }
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                } finally {
                  places.depart();
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
    assertThat(places.hasRoom()).isTrue();
  }

  @Test
  void fullFlight_leavesNoRoom_alsoForThoseThatWaitForAPlace() throws InterruptedException {
    Places places = new Places(2, 100);
    places.arrive();
    places.takeOff();
    assertThat(places.hasRoom()).isTrue();
    places.arrive();
    places.takeOff();

    assertThat(places.hasRoom()).isFalse();
    assertThat(places.inFlight()).isEqualTo(2);
    assertThat(places.parked()).isZero();
    places.land();
    assertThat(places.hasRoom()).isTrue();
    assertThat(places.parked()).isOne();
  }

  @Test
  void parkedRecords_haveABoundOfTheirOwn() throws InterruptedException {
    Places places = new Places(1, 3);
    places.arrive();
    places.takeOff();
    places.land(); // now it waits for something
    places.arrive();
    assertThat(places.hasRoom()).isTrue();
    places.arrive();

    assertThat(places.hasRoom()).isFalse();
    assertThat(places.parked()).isEqualTo(3);
    places.depart();
    assertThat(places.hasRoom()).isTrue();
  }

  @Test
  void whoeverIsInterruptedWhileItWaits_takesNoPlace() throws InterruptedException {
    Places places = new Places(1, 100);
    places.arrive();
    places.takeOff();
    places.arrive();
    AtomicReference<@Nullable Exception> thrown = new AtomicReference<>();
    Thread waiting =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    places.takeOff();
                  } catch (InterruptedException e) {
                    thrown.set(e);
                  }
                });
    eventually(() -> waiting.getState() == Thread.State.WAITING);
    assertThat(places.hasRoom()).isFalse();

    waiting.interrupt();
    assertThat(waiting.join(LONG)).isTrue();

    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
    places.land();
    assertThat(places.hasRoom()).isTrue();
    assertThat(places.inFlight()).isZero();
  }

  @Test
  void roomIsAwaited_noLongerThanAsked() throws InterruptedException {
    Places places = new Places(1, 100);
    places.arrive();
    places.takeOff();

    assertThat(places.awaitRoom(Duration.ofMillis(10))).isFalse();
  }

  @Test
  void roomThatComes_wakesThePoller() throws InterruptedException {
    for (boolean byLanding : new boolean[] {true, false}) {
      Places places = new Places(byLanding ? 1 : 10, byLanding ? 100 : 1);
      places.arrive();
      if (byLanding) {
        places.takeOff();
      }
      AtomicReference<@Nullable Boolean> room = new AtomicReference<>();
      CountDownLatch polling = new CountDownLatch(1);
      Thread poller =
          Thread.ofPlatform()
              .start(
                  () -> {
                    polling.countDown();
                    room.set(places.awaitRoom(LONG));
                  });
      polling.await();
      eventually(() -> poller.getState() == Thread.State.TIMED_WAITING);
      assertThat(room.get()).isNull();

      if (byLanding) {
        places.land();
      } else {
        places.depart();
      }

      assertThat(poller.join(Duration.ofSeconds(5))).isTrue();
      assertThat(room.get()).isTrue();
    }
  }
}
