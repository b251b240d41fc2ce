package io.firstclaim.processor.service.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UpkeepTest {
  private final Upkeep upkeep = new Upkeep();

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, OutOfMemoryError.class})
  void choreThatFails_isDoneAgain(Class<? extends Throwable> fault) throws InterruptedException {
    Duration next =
        upkeep.once(
            "chore",
            () -> {
              if (fault == OutOfMemoryError.class) {
                throw new OutOfMemoryError("by the test");
              }
              throw new IllegalStateException("by the test");
            });

    assertThat(next).isEqualTo(Duration.ofMinutes(5));
  }

  @Test
  void interrupt_endsAChore() {
    assertThatThrownBy(
            () ->
                upkeep.once(
                    "chore",
                    () -> {
                      throw new InterruptedException("by the test");
                    }))
        .isInstanceOf(InterruptedException.class);
  }

  @Test
  void choreThatFailsAsItIsClosed_isOver() {
    assertThatThrownBy(
            () ->
                upkeep.once(
                    "chore",
                    () -> {
                      upkeep.close();
                      throw new IllegalStateException("Connection pool shut down");
                    }))
        .isInstanceOf(InterruptedException.class)
        .hasCauseInstanceOf(IllegalStateException.class);
  }
}
