package io.firstclaim.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OncePerMinuteTest {
  @Test
  void whatHappensAllTheTime_isToldOnceAMinute() {
    ManualTime time = ManualTime.start();
    OncePerMinute line = new OncePerMinute(time);
    int told = 0;

    for (int second = 0; second < 150; second++) {
      told += line.isDue() ? 1 : 0;
      time.advance(Duration.ofSeconds(1));
    }

    assertThat(told).isEqualTo(3);
  }
}
