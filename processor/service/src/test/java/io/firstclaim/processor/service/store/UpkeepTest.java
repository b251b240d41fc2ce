package io.firstclaim.processor.service.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UpkeepTest {
  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, OutOfMemoryError.class})
  void choreThatFails_isDoneAgain(Class<? extends Throwable> fault) throws InterruptedException {
    Duration next =
        Upkeep.once(
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
                Upkeep.once(
                    "chore",
                    () -> {
                      throw new InterruptedException("by the test");
                    }))
        .isInstanceOf(InterruptedException.class);
  }
}
