package io.firstclaim.processor.service.acts;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.service.acts.RedriveSpec.Selection.Filter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which deaths a filter takes. */
class FilterTest {
  private static final Instant NINE = Instant.parse("2026-11-22T09:00:00Z");
  private static final Instant TEN = Instant.parse("2026-11-22T10:00:00Z");

  @Test
  void filterBeforeAMoment_takesWhatDiedBeforeIt_andItsOwnEndHoldsIfThatIsEarlier() {
    Filter any = new Filter("orders", "410", null, null);
    Filter untilNine = any.before(NINE);

    assertThat(untilNine).isEqualTo(new Filter("orders", "410", null, NINE.toString()));
    assertThat(untilNine.moments()).accepts(NINE.minusMillis(1)).rejects(NINE);
    assertThat(untilNine.before(TEN)).isEqualTo(untilNine);
    assertThat(any.before(TEN).before(NINE)).isEqualTo(untilNine);
  }

  @Test
  void redriveBeforeAMoment_takesWhatDiedBeforeIt_butThoseThatAreNamedWheneverTheyDied() {
    Filter any = new Filter("orders", "410", null, null);
    RedriveSpec named = RedriveSpec.ofIds(List.of("one", "two"), 50).withDelay(Duration.ofHours(1));

    assertThat(RedriveSpec.of(any, 7, 50).before(NINE))
        .isEqualTo(RedriveSpec.of(any.before(NINE), 7, 50));
    assertThat(named.before(NINE)).isEqualTo(named);
  }
}
