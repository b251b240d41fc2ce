package io.firstclaim.lock.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.StoreListener;
import java.time.Duration;
import java.time.Instant;

/** Whatever a store's answer has for a {@code Date}. */
class DatedClockFuzzTest {
  private static final Moment NOW = new Moment(Instant.parse("2100-01-01T00:00:00Z"), 1_000_000);

  @FuzzTest(maxDuration = "10m")
  void anyDate_leavesAClockThatTells_orSaysThatItCannot(byte[] bytes) {
    DatedClock clock = new DatedClock(() -> NOW, Duration.ofMinutes(1), StoreListener.NONE);

    clock.observe(new String(bytes, UTF_8), NOW, NOW);

    StoreMoment now = clock.now();
    assertThat(now.early()).isBeforeOrEqualTo(now.late());
    if (now.isKnown()) {
      assertThat(now.toMachine(now.toStore(NOW.wall()))).isEqualTo(NOW.wall());
    }
  }
}
