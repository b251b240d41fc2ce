package io.firstclaim.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.simulation.Course.Change;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a run fails without is left out of it. */
class ShrinkerTest {
  private static final Course SEED = Course.of(3);

  @Test
  void whatIsNotNeeded_isLeftOut() {
    List<Change> changes =
        Shrinker.shrink(SEED, 30, course -> course.has(7) && course.has(23), 1000);

    assertThat(changes)
        .contains(
            new Change.PreemptOneIn(0),
            new Change.Loss(0),
            new Change.Records(1),
            new Change.Strikes(Set.of(7, 23)));
  }

  @Test
  void whatIsNeeded_stays() {
    List<Change> changes =
        Shrinker.shrink(
            SEED, 30, course -> course.loss() == SEED.loss() && course.records() > 9, 1000);

    assertThat(changes)
        .contains(new Change.Strikes(Set.of()))
        .noneMatch(each -> each instanceof Change.Loss && SEED.loss() > 0)
        .anySatisfy(
            each ->
                assertThat(each)
                    .isInstanceOf(Change.Records.class)
                    .hasToString("records=" + least()));
  }

  /** The last half of a half that is more than nine. */
  private static int least() {
    int records = SEED.records();
    while (records / 2 > 9) {
      records /= 2;
    }
    return records;
  }

  @Test
  void noMoreRunsAreTried_thanAreAllowed() {
    int[] runs = {0};

    var _ =
        Shrinker.shrink(
            SEED,
            30,
            _ -> {
              runs[0]++;
              return false; // whatever is left out, the failure is gone
            },
            12);

    assertThat(runs[0]).isEqualTo(12);
  }

  @Test
  void changes_areReadAsTheyArePrinted() {
    Change strikes = new Change.Strikes(Set.of(2, 40));

    assertThat(strikes).hasToString("strikes=2+40");
    assertThat(Change.parse("strikes=2+40")).isEqualTo(strikes);
    assertThat(SEED.with("loss=0.0,records=4,strikes=2+40"))
        .isEqualTo(SEED.with(new Change.Loss(0)).with(new Change.Records(4)).with(strikes));
  }
}
