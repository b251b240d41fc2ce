package io.firstclaim.processor.engine.handler;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WatchdogTest {
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private int abandoned;
  private final Watchdog watchdog = new Watchdog(4, () -> abandoned, waiting::add);

  private void look(int times) {
    for (int i = 0; i < times; i++) {
      watchdog.look();
    }
  }

  @Test
  void virtualThreadsThatDoNotRun_areAFault_untilTheyRunAgain() {
    look(Watchdog.PATIENCE);
    assertThat(watchdog.fault()).isNull();

    look(1);

    assertThat(watchdog.fault()).contains("no virtual thread has run for 10 s");
    assertThat(waiting).as("threads that wait to run").hasSize(1);
    waiting.remove().run();
    look(1);
    assertThat(watchdog.fault()).isNull();
  }

  @Test
  void virtualThreadThatCannotBeStarted_isStartedAtAnotherLook() {
    AtomicBoolean refuses = new AtomicBoolean(true);
    Watchdog other =
        new Watchdog(
            4,
            () -> 0,
            thread -> {
              if (refuses.get()) {
                throw new OutOfMemoryError("no thread");
              }
              waiting.add(thread);
            });
    for (int i = 0; i <= Watchdog.PATIENCE; i++) {
      assertThatThrownBy(other::look).isInstanceOf(OutOfMemoryError.class);
    }
    assertThat(other.fault()).contains("no virtual thread has run");

    refuses.set(false);
    other.look();
    waiting.remove().run();
    other.look();

    assertThat(other.fault()).isNull();
  }

  @Test
  void looksThatFail_areASecondApart_too_andEndWhenToldTo() {
    List<Long> looks = new CopyOnWriteArrayList<>();
    AtomicReference<@Nullable Thread> looking = new AtomicReference<>();
    Watchdog other =
        new Watchdog(
            4,
            () -> 0,
            _ -> {
              looking.set(Thread.currentThread());
              looks.add(System.nanoTime());
              throw new OutOfMemoryError("no thread");
            });

    other.start();
    try {
      eventually(() -> looks.size() >= 3);
      assertThat(Duration.ofNanos(looks.get(2) - looks.get(0)))
          .isGreaterThan(Duration.ofMillis(1900));
      assertThat(other.fault()).isNull();
    } finally {
      other.stop();
    }
    eventually(() -> !Objects.requireNonNull(looking.get()).isAlive());
  }

  @Test
  void virtualThreadsThatRun_areNoFault() {
    for (int i = 0; i < 5 * Watchdog.PATIENCE; i++) {
      look(1);
      waiting.remove().run();
      assertThat(watchdog.fault()).isNull();
    }
  }

  @Test
  void placesLostToAbandonedHandlers_areAFault_onceTheyAreMoreThanHalf() {
    abandoned = 2;
    assertThat(watchdog.fault()).isNull();

    abandoned = 3;
    assertThat(watchdog.fault()).contains("3 of 4 permits to be in flight are lost");

    abandoned = 0;
    assertThat(watchdog.fault()).isNull();
  }
}
