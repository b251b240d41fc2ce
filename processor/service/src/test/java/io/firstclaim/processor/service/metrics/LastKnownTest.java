package io.firstclaim.processor.service.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class LastKnownTest {
  private final Queue<OptionalLong> answers =
      new ArrayDeque<>(
          List.of(
              OptionalLong.empty(), OptionalLong.of(3), OptionalLong.empty(), OptionalLong.of(0)));

  @Test
  void numberThatIsNotKnownNow_isAsItWas_andNoneBeforeItEverWas() {
    LastKnown stuck = new LastKnown(Double.NaN, answers::remove);

    assertThat(stuck.now()).isNaN();
    assertThat(stuck.now()).isEqualTo(3);
    assertThat(stuck.now()).isEqualTo(3);
    assertThat(stuck.now()).isZero();
  }
}
