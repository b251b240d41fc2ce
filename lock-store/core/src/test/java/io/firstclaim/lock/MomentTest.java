package io.firstclaim.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class MomentTest {
  private static final Instant NOON = Instant.parse("2100-01-01T12:00:00Z");
  private static final Duration LENGTH = Duration.ofSeconds(10);

  @Test
  void pauseBetweenTheReadings_isNoLeap_asBothAreReadAgain() {
    var now = new AtomicReference<>(new Moment(NOON, 0));
    Queue<Duration> pauses = new ArrayDeque<>(List.of(Duration.ofSeconds(3), LENGTH));
    Runnable pass =
        () -> {
          Duration pause = Objects.requireNonNullElse(pauses.poll(), Duration.ZERO);
          now.updateAndGet(at -> new Moment(at.wall().plus(pause), at.ticks() + pause.toNanos()));
        };

    Moment read =
        Moment.read(
            () -> {
              long ticks = now.get().ticks();
              pass.run();
              return ticks;
            },
            () -> now.get().wall());

    assertThat(read).isEqualTo(now.get());
    assertThat(read.hasLeaptSince(new Moment(NOON, 0))).isFalse();
  }

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
  void clocksThatPart_haveLeapt_whicheverWay() {
    var earlier = new Moment(NOON, 1_000);
    for (long millis : new long[] {-3_600_000, -201, 201, 600_000}) {
      assertThat(new Moment(NOON.plusMillis(millis), 1_000).hasLeaptSince(earlier)).isTrue();
    }
    assertThat(new Moment(NOON.plusSeconds(9), 9_000_001_000L).hasLeaptSince(earlier)).isFalse();
    assertThat(new Moment(NOON.plusMillis(200), 1_000).hasLeaptSince(earlier)).isFalse();
  }

  /** With chrony's default maxslewrate a clock is a twelfth too fast or too slow. */
  @Test
  void leaseEndsAtNineTenths_andSightingAtSixFifths_whichSlewingCannotTurnRound() {
    var start = new Moment(NOON, 0);
    var lease =
        new Lease(RecordId.of("id"), "a", 1, 1, Fingerprint.none(), new Nonce(0, 0), start, LENGTH);
    var sighting = new Sighting(1, new Nonce(0, 0), start, LENGTH);
    var nineSeconds = new Moment(NOON.minusSeconds(3600), 9_000_000_000L);
    var twelveSeconds = new Moment(NOON.plusSeconds(3600), 12_000_000_000L);

    assertThat(lease.isOver(new Moment(NOON, nineSeconds.ticks() - 1))).isFalse();
    assertThat(lease.isOver(nineSeconds)).isTrue();
    assertThat(lease.remaining(nineSeconds)).isZero();
    assertThat(sighting.isOver(new Moment(NOON, twelveSeconds.ticks() - 1))).isFalse();
    assertThat(sighting.isOver(twelveSeconds)).isTrue();
    double slowest = 1 - Lease.SLEW_PPM / 1e6;
    double fastest = 1 + Lease.SLEW_PPM / 1e6;
    assertThat(9 / slowest).as("seconds held").isLessThan(10);
    assertThat(12 / fastest).as("seconds watched").isGreaterThan(10);
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
