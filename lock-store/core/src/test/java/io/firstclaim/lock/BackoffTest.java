package io.firstclaim.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private final Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(1));

  @Test
  void wholePause_doubles_upToItsBound_andIsNoneBeforeTheFirstFailure() {
    int[] millis = {0, 100, 200, 400, 800, 1000, 1000};
    for (int failures = 0; failures < millis.length; failures++) {
      assertThat(backoff.whole(failures)).hasMillis(millis[failures]);
    }
    assertThat(backoff.whole(-1)).isZero();
    assertThat(backoff.whole(Integer.MAX_VALUE)).hasMillis(1000);
    assertThat(backoff.after(0)).isZero();
  }

  @Test
  void firstPauseThatIsNone_isRefused() {
    assertThatThrownBy(() -> new Backoff(Duration.ZERO, Duration.ofSeconds(1)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
