package io.firstclaim.processor.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class HeadStartTest {
  private static final Duration LONGEST = Duration.ofSeconds(10);

  private final HeadStart learnt = new HeadStart(Optional.empty(), LONGEST);

  private void needs(int records, Duration each) {
    for (int i = 0; i < records; i++) {
      learnt.needed("b", each);
    }
  }

  @Test
  void headStartThatIsSet_isNotLearnt() {
    HeadStart set = new HeadStart(Optional.of(Duration.ofHours(1)), LONGEST);
    set.needed("b", Duration.ofMillis(20));

    assertThat(set.of("b")).isEqualTo(Duration.ofHours(1));
  }

  @Test
  void zoneOfWhichNothingIsHeardYet_isGivenASecond() {
    assertThat(learnt.of("b")).isEqualTo(Duration.ofSeconds(1));
    assertThat(new HeadStart(Optional.empty(), Duration.ofMillis(200)).of("b"))
        .isEqualTo(Duration.ofMillis(200));
  }

  @Test
  void headStart_becomesWhatTheZoneNeeds_andEachZoneHasItsOwn() {
    needs(100, Duration.ofMillis(500));
    assertThat(learnt.of("b")).isBetween(Duration.ofMillis(500), Duration.ofMillis(510));
    assertThat(learnt.of("c")).isEqualTo(Duration.ofSeconds(1));

    needs(100, Duration.ofMillis(2));
    assertThat(learnt.of("b")).as("never less than what fast zones need").hasMillis(100);

    needs(1, Duration.ofMillis(900));
    assertThat(learnt.of("b")).isBetween(Duration.ofMillis(900), Duration.ofMillis(1100));
  }

  @Test
  void headStart_isBounded_howeverSlowTheZone() {
    needs(100, Duration.ofHours(1));

    assertThat(learnt.of("b")).isEqualTo(LONGEST);
  }
}
