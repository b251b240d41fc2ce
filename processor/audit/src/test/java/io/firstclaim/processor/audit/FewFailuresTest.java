package io.firstclaim.processor.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FewFailuresTest {
  private final ManualTime time = ManualTime.start();
  private final FewFailures failures = new FewFailures(2, Duration.ofMinutes(10), time);

  @Test
  void failuresAreFew_unlessTheyComeOneUponTheOther() {
    assertThat(failures.isOneMore()).isTrue();
    assertThat(failures.isOneMore()).isTrue();
    assertThat(failures.isOneMore()).isFalse();
  }

  @Test
  void failuresNowAndThen_areFew() {
    for (int i = 0; i < 20; i++) {
      assertThat(failures.isOneMore()).isTrue();
      time.advance(Duration.ofMinutes(6));
    }
  }
}
