package io.firstclaim.processor.engine.claim;

import static io.firstclaim.processor.engine.claim.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.processor.engine.claim.StoreGate.Lane;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class StoreGateTest {
  private final AtomicBoolean storeAnswers = new AtomicBoolean(true);
  private final AtomicInteger probes = new AtomicInteger();
  private final AtomicInteger probing = new AtomicInteger();
  private final AtomicInteger mostProbing = new AtomicInteger();
  private final Semaphore probeMayEnd = new Semaphore(0);
  private volatile boolean probeHangs;

  private final StoreGate gate = new StoreGate(this::probe);

  private void probe() {
    probes.incrementAndGet();
    mostProbing.accumulateAndGet(probing.incrementAndGet(), Math::max);
    try {
      if (probeHangs) {
        probeMayEnd.acquireUninterruptibly();
      }
      if (!storeAnswers.get()) {
        throw new StoreUnavailableException("no answer", new IOException());
      }
    } finally {
      probing.decrementAndGet();
    }
  }

  @AfterEach
  void letTheProbeEnd() {
    storeAnswers.set(true);
    probeMayEnd.release(1000);
    eventually(gate::isOpen);
  }

  /** Takes all places of a lane and says how many they were. */
  private static int fill(Lane lane) throws InterruptedException {
    int places = 0;
    while (!lane.isFull()) {
      assertThat(lane.enter(() -> true)).isTrue();
      places++;
      assertThat(places).isLessThan(10_000);
    }
    return places;
  }

  @Test
  void lane_hasABoundedNumberOfPlaces_andALeftOneIsTakenAgain() throws InterruptedException {
    assertThat(fill(gate.claims())).isPositive();

    gate.claims().leave();

    assertThat(gate.claims().enter(() -> true)).isTrue();
    assertThat(gate.claims().isFull()).isTrue();
  }

  @Test
  void settlements_doNotWaitBehindClaims() throws InterruptedException {
    int _ = fill(gate.claims());

    assertThat(gate.settlements().enter(() -> true)).isTrue();
  }

  @Test
  void recordThatIsNotWanted_getsNoPlace_evenIfOneIsFree() throws InterruptedException {
    assertThat(gate.claims().enter(() -> false)).isFalse();
  }

  @Test
  void leftPlace_wakesOneThatWaits() throws InterruptedException {
    int _ = fill(gate.claims());
    AtomicBoolean entered = new AtomicBoolean();
    Thread waiting = waiting(gate.claims(), () -> true, entered);

    gate.claims().leave();

    assertThat(waiting.join(Duration.ofSeconds(5))).isTrue();
    assertThat(entered).isTrue();
  }

  @Test
  void shutGate_letsNobodyIn_untilTheStoreAnswers() throws InterruptedException {
    storeAnswers.set(false);
    gate.shut("timed out");
    assertThat(gate.isOpen()).isFalse();
    assertThat(gate.fault()).isEqualTo("timed out");
    List<Thread> waiting = new ArrayList<>();
    AtomicBoolean entered = new AtomicBoolean();
    for (Lane lane : List.of(gate.claims(), gate.settlements())) {
      for (int i = 0; i < 5; i++) {
        waiting.add(waiting(lane, () -> true, entered));
      }
    }
    eventually(() -> probes.get() >= 3);
    assertThat(entered).isFalse();

    storeAnswers.set(true);

    for (Thread thread : waiting) {
      assertThat(thread.join(Duration.ofSeconds(10))).isTrue();
    }
    assertThat(gate.isOpen()).isTrue();
    assertThat(gate.fault()).isNull();
  }

  @Test
  void whoIsNotWantedAnyMore_waitsNoLonger() throws InterruptedException {
    storeAnswers.set(false);
    gate.shut("timed out");
    AtomicBoolean wanted = new AtomicBoolean(true);
    AtomicBoolean entered = new AtomicBoolean();
    Thread waiting = waiting(gate.claims(), wanted::get, entered);

    wanted.set(false);
    gate.lookAgain();

    assertThat(waiting.join(Duration.ofSeconds(5))).isTrue();
    assertThat(entered).isFalse();
  }

  @Test
  void outage_costsTheStoreOneRequestAtATime() {
    storeAnswers.set(false);
    probeHangs = true;
    for (int i = 0; i < 100; i++) {
      gate.shut("timed out");
    }
    eventually(() -> probing.get() == 1);
    for (int i = 0; i < 100; i++) {
      gate.shut("timed out again");
    }
    probeMayEnd.release(2);
    eventually(() -> probes.get() == 3);

    assertThat(mostProbing).hasValue(1);
    assertThat(gate.fault()).isEqualTo("timed out");
  }

  @Test
  void probeThatThrowsWhatItShouldNot_isRepeated() {
    AtomicInteger calls = new AtomicInteger();
    StoreGate odd =
        new StoreGate(
            () -> {
              switch (calls.incrementAndGet()) {
                case 1 -> throw new IllegalStateException("a defect");
                case 2 -> throw new OutOfMemoryError("for a moment");
                default -> {}
              }
            });

    odd.shut("timed out");

    eventually(odd::isOpen);
    assertThat(calls).hasValue(3);
  }

  @Test
  void laneHalves_whenTheStoreFailsToAnswer_andGrowsAgainWithItsAnswers()
      throws InterruptedException {
    int before = fill(gate.claims());
    for (int i = 0; i < before; i++) {
      gate.claims().leave();
    }
    gate.shut("timed out");
    eventually(gate::isOpen);
    int halved = fill(gate.claims());
    assertThat(halved).isEqualTo(before / 2);

    for (int round = 0; round < 4 * before * before; round++) {
      gate.claims().leave();
      assertThat(gate.claims().enter(() -> true)).isTrue();
    }

    assertThat(halved + fill(gate.claims())).isEqualTo(before);
  }

  @Test
  void laneNeverClosesForGood_howeverOftenTheStoreFails() throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      gate.shut("timed out");
      eventually(gate::isOpen);
    }

    assertThat(fill(gate.claims())).isPositive();
  }

  @Test
  void recordThatFailsAgainAndAgain_waitsLongerAndLonger_withinBounds() {
    assertThat(StoreGate.pauseAfter(1)).isZero();
    Duration least = StoreGate.pauseAfter(2);
    assertThat(least).isBetween(Duration.ofMillis(100), Duration.ofMillis(200));
    assertThat(StoreGate.pauseAfter(3)).isBetween(Duration.ofMillis(200), Duration.ofMillis(400));
    for (int failures : new int[] {10, 100, Integer.MAX_VALUE}) {
      assertThat(StoreGate.pauseAfter(failures))
          .isBetween(Duration.ofSeconds(2), Duration.ofSeconds(4));
    }
  }

  /** A thread that waits to enter. */
  private static Thread waiting(Lane lane, BooleanSupplier wanted, AtomicBoolean entered) {
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    if (lane.enter(wanted)) {
                      entered.set(true);
                    }
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
    eventually(() -> thread.getState() == Thread.State.WAITING);
    return thread;
  }
}
