package io.firstclaim.micronaut.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.testkit.ManualTime;
import io.micronaut.scheduling.cron.CronExpression;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

class FireTimesTest {
  private final ManualTime time = ManualTime.start();
  private final FireTimes hourly =
      new FireTimes(CronExpression.create("0 0 * * * *"), ZoneOffset.UTC, time);
  private final Instant first =
      time.now().wall().truncatedTo(ChronoUnit.HOURS).plus(Duration.ofHours(1));

  /** Until this long after, or before, a time. */
  private void goTo(Instant instant) {
    time.advance(Duration.between(time.now().wall(), instant));
  }

  @Test
  void run_isForTheTimeThatItIsDueAt() {
    goTo(first.plusMillis(3));
    assertThat(hourly.take()).isEqualTo(first);
    goTo(first.plus(Duration.ofHours(1)));
    assertThat(hourly.take()).isEqualTo(first.plus(Duration.ofHours(1)));
  }

  @Test
  void runThatBeginsEarly_isForTheTimeToCome_andTheNextForTheNext() {
    goTo(first.minusSeconds(1));
    assertThat(hourly.take()).isEqualTo(first);
    goTo(first.plus(Duration.ofHours(1)).minusMillis(1));
    assertThat(hourly.take()).isEqualTo(first.plus(Duration.ofHours(1)));
  }

  @Test
  void runThatBeginsLate_isForTheLastTimeThatCame() {
    goTo(first.plus(Duration.ofMinutes(150)));
    assertThat(hourly.take()).isEqualTo(first.plus(Duration.ofHours(2)));
  }

  @Test
  void callThatNoTimeIsNearTo_isRefused_andTakesNone() {
    goTo(first.minus(Duration.ofMinutes(10)));
    assertThatThrownBy(hourly::take)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("it is not due before");
    goTo(first);
    assertThat(hourly.take()).isEqualTo(first);
  }
}
