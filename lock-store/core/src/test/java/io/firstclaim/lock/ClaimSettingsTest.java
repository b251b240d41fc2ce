package io.firstclaim.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ClaimSettingsTest {
  private static final Duration DAYS = Duration.ofDays(15);

  private static ClaimSettings settings(long leaseMillis, long skewMillis) {
    return new ClaimSettings(
        "space", "a", Duration.ofMillis(leaseMillis), Duration.ofMillis(skewMillis), DAYS);
  }

  @Test
  void defaults_areThirtySecondsOneSecondFifteenDays() {
    assertThat(ClaimSettings.of("space", "a")).isEqualTo(settings(30_000, 1_000));
  }

  @Test
  void leaseTooShortForTheSkew_isRefused_withWhatWouldBeLongEnough() {
    assertThatThrownBy(() -> settings(2_999, 1_000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "lease 2.999s is too short: renewing at a third of it, waiting a third of it for the"
                + " store and a clock difference of 1s need at least 3s");
    assertThat(settings(3_000, 1_000).lease()).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void leaseTooShortForAnyStore_isRefused() {
    for (long millis : new long[] {-1, 0, 1_499}) {
      assertThatThrownBy(() -> settings(millis, 500))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageEndingWith("need at least 1.5s");
    }
    assertThat(settings(1_500, 500).lease()).isEqualTo(Duration.ofMillis(1_500));
  }

  @Test
  void skewBelowHalfASecond_isRefused() {
    for (long millis : new long[] {-1, 0, 100, 499}) {
      assertThatThrownBy(() -> settings(30_000, millis))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("max-skew ")
          .hasMessageEndingWith("s is too short for what clocks may differ by; give 0.5s or more");
    }
    assertThat(settings(30_000, 500).maxSkew()).isEqualTo(Duration.ofMillis(500));
  }

  @Test
  void retentionShorterThanTheLease_isRefused() {
    Duration lease = Duration.ofSeconds(30);
    Duration skew = Duration.ofSeconds(1);
    assertThatThrownBy(() -> new ClaimSettings("space", "a", lease, skew, Duration.ofSeconds(29)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("retention 29s is shorter than lease 30s; give days");
  }

  @Test
  void namesWithoutOrWithTooManyCharacters_areRefused() {
    assertThatThrownBy(() -> ClaimSettings.of("", "a"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("namespace has 0 characters; give 1 to 256");
    assertThatThrownBy(() -> ClaimSettings.of("space", "a".repeat(257)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("holder has 257 characters; give 1 to 256");
    assertThat(ClaimSettings.of("space", "a".repeat(256)).holder()).hasSize(256);
  }

  @Test
  void renewalAndStoreTimeout_leaveRoomForTheClocks() {
    for (long leaseMillis : new long[] {1_503, 3_000, 30_000, 300_000}) {
      ClaimSettings settings = settings(leaseMillis, leaseMillis / 3 - 1);
      assertThat(settings.renewAfter().plus(settings.storeTimeout()).plus(settings.maxSkew()))
          .isLessThan(settings.lease());
    }
    assertThat(settings(30_000, 1_000).storeTimeout()).isEqualTo(Duration.ofSeconds(5));
    assertThat(settings(3_000, 1_000).storeTimeout()).isEqualTo(Duration.ofSeconds(1));
  }
}
