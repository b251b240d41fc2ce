package io.firstclaim.processor.service.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SharedAnswerTest {
  private final ManualTime time = ManualTime.start();
  private final Queue<Runnable> threads = new ArrayDeque<>();
  private int asked;
  private final SharedAnswer<Integer> answer =
      new SharedAnswer<>(() -> ++asked, threads::add, time);

  private void run() {
    threads.remove().run();
  }

  @Test
  void whileItIsAsked_andForASecondAfterItsAnswer_nobodyAsksAgain() {
    CompletableFuture<Integer> first = answer.get();
    time.advance(Duration.ofMinutes(1));
    CompletableFuture<Integer> meanwhile = answer.get();
    assertThat(threads).hasSize(1);
    run();
    time.advance(Duration.ofMillis(999));
    assertThat(answer.get()).isCompletedWithValue(1);
    assertThat(first).isCompletedWithValue(1);
    assertThat(meanwhile).isCompletedWithValue(1);

    time.advance(Duration.ofMillis(1));
    CompletableFuture<Integer> later = answer.get();
    assertThat(later).isNotDone();
    run();

    assertThat(later).isCompletedWithValue(2);
  }

  @Test
  void questionThatFails_isAskedAgain_forWhoLooksNext() {
    SharedAnswer<Integer> failing =
        new SharedAnswer<>(
            () -> {
              if (asked++ == 0) {
                throw new LinkageError("of a test");
              }
              return asked;
            },
            Runnable::run,
            time);
    assertThatThrownBy(() -> failing.get().join()).hasRootCauseInstanceOf(LinkageError.class);

    assertThat(failing.get()).isCompletedWithValue(2);
  }
}
