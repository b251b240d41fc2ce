package io.firstclaim.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class LeaseTest {
  private static final Moment START = new Moment(Instant.parse("2100-01-01T12:00:00Z"), 0);
  private static final Lease LEASE =
      new Lease(
          RecordId.of("id"),
          "a",
          1,
          1,
          Fingerprint.none(),
          new Nonce(0, 0),
          START,
          Duration.ofSeconds(10));

  private static Moment after(Duration passed) {
    return new Moment(START.wall().plus(passed), START.ticks() + passed.toNanos());
  }

  @Test
  void leaseThatIsOverForItsHolder_isNotYetTakenOver_forATenthOfItsLength() {
    Moment over = after(Duration.ofSeconds(9));

    assertThat(LEASE.isOver(over)).isTrue();
    assertThat(LEASE.untilTakeover(over)).isEqualTo(Duration.ofSeconds(1));
    assertThat(LEASE.untilTakeover(after(Duration.ofSeconds(12))))
        .isEqualTo(Duration.ofSeconds(-2));
  }

  @Test
  void leaseInDoubt_mayHaveBeenTakenOver() {
    Moment leapt = new Moment(START.wall().plusSeconds(3600), START.ticks());

    assertThat(LEASE.untilTakeover(leapt)).isZero();
  }
}
