package io.firstclaim.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class MomentTest {
  private static final Instant NOON = Instant.parse("2100-01-01T12:00:00Z");
  private static final Duration LENGTH = Duration.ofSeconds(10);

  @Test
  void since_looksAtTheMonotonicClockOnly() {
    var earlier = new Moment(NOON, 1_000);
    var later = new Moment(NOON.minusSeconds(3600), 3_000);

    assertThat(later.since(earlier)).isEqualTo(Duration.ofNanos(2_000));
  }

  @Test
  void since_survivesTheOverflowOfTheMonotonicClock() {
    var earlier = new Moment(NOON, Long.MAX_VALUE - 5);
    var later = new Moment(NOON, Long.MIN_VALUE + 4);

    assertThat(later.since(earlier)).isEqualTo(Duration.ofNanos(10));
  }

  @Test
  void leaseAndSighting_areOverAtTheirLength_notBefore() {
    var start = new Moment(NOON, 0);
    var lease =
        new Lease(RecordId.of("id"), "a", 1, 1, Fingerprint.none(), new Nonce(0, 0), start, LENGTH);
    var sighting = new Sighting(1, new Nonce(0, 0), start, LENGTH);
    var before = new Moment(NOON.plusSeconds(3600), LENGTH.toNanos() - 1);
    var at = new Moment(NOON.minusSeconds(3600), LENGTH.toNanos());

    assertThat(lease.isOver(before)).isFalse();
    assertThat(sighting.isOver(before)).isFalse();
    assertThat(lease.isOver(at)).isTrue();
    assertThat(sighting.isOver(at)).isTrue();
    assertThat(lease.remaining(at)).isZero();
    assertThat(sighting.remaining(before)).isEqualTo(Duration.ofNanos(1));
  }

  @Test
  void systemTime_goesOn() {
    TimeSource system = TimeSource.system();
    Moment first = system.now();
    Moment second = system.now();

    assertThat(second.since(first)).isGreaterThanOrEqualTo(Duration.ZERO);
    assertThat(first.wall()).isAfter(Instant.parse("2020-01-01T00:00:00Z"));
  }
}
