package io.firstclaim.processor.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Rounds of answers from stores of all kinds. */
class PaceTest {
  private static final Duration LONGEST = Duration.ofMillis(1333);

  private int most = 128;
  private final Pace pace = new Pace(LONGEST, () -> most);

  /** How long a store takes for each of so many requests at once. */
  private interface Store {
    double millis(int atOnce);
  }

  private static Store steady(double millis) {
    return _ -> millis;
  }

  /** Answers so many in a second at most, and none sooner than in these milliseconds. */
  private static Store ofCapacity(int perSecond, double millis) {
    return atOnce -> Math.max(millis, 1000.0 * atOnce / perSecond);
  }

  /** Answers as many requests at once as there may be. */
  private void rounds(int count, Store store) {
    for (int i = 0; i < count; i++) {
      int limit = pace.limit();
      Duration took = Duration.ofNanos((long) (store.millis(limit) * 1e6));
      for (int answer = 0; answer < limit; answer++) {
        pace.answered(took, limit);
      }
    }
  }

  @Test
  void beginsWithAFew_andDoublesWithEveryRound() {
    assertThat(pace.limit()).isEqualTo(4);
    rounds(1, steady(1000));
    assertThat(pace.limit()).isEqualTo(8);
    rounds(2, steady(1000));
    assertThat(pace.limit()).isEqualTo(32);
    rounds(10, steady(1000));
    assertThat(pace.limit()).isEqualTo(most);
  }

  /** As a table does that took statements, then none, and takes them again. */
  @Test
  void storeThatMakesTheMostOfMore_isAskedForMore_andForLessAtOnce_whenItDoesNoMore() {
    most = 768;
    rounds(20, steady(5));
    assertThat(pace.limit()).isEqualTo(768);

    most = 128;
    assertThat(pace.limit()).isEqualTo(128);
    rounds(1, steady(5000));
    assertThat(pace.limit()).as("it has slowed down: half").isEqualTo(64);

    most = 768;
    rounds(100, steady(5));
    assertThat(pace.limit()).isEqualTo(768);
  }

  /** A keeper has so many threads; what is begun beyond what they renew in time would be lost. */
  @Test
  void leasesAreRenewed_byAsManyAsTheKeeperHas_howeverManyWritesTheStoreTakes() {
    most = 800;
    rounds(20, steady(500));

    assertThat(pace.toRenew(10 * 128)).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void growsNoFurther_thanThereAreRequestsForIt() {
    for (int i = 0; i < 1000; i++) {
      pace.answered(Duration.ofMillis(10), 3);
    }

    assertThat(pace.limit()).isLessThanOrEqualTo(8);
  }

  @Test
  void storeThatIsAtItsCapacity_isAskedForLittleMoreThanItAnswers() {
    Store store = ofCapacity(100, 50);
    rounds(1000, store);

    for (int round = 0; round < 100; round++) {
      rounds(1, store);
      assertThat(pace.limit()).isBetween(5, 25);
    }
  }

  /** A queue of some answers costs no lease, and keeps store and network busy. */
  @Test
  void answersThatTakeAHundredthOfWhatTheyMay_areNotSlow_whateverIsUsual() {
    Pace patient = new Pace(Duration.ofSeconds(10), () -> most);
    for (int i = 0; i < 1000; i++) {
      patient.answered(Duration.ofMillis(5), 2);
    }
    for (int i = 0; i < 1000; i++) {
      patient.answered(Duration.ofMillis(95), patient.limit());
    }

    assertThat(patient.limit()).isEqualTo(most);
  }

  @Test
  void storeThatBecomesSlowForGood_isGivenTimeToLearnThat_andThenAsMuchAsBefore() {
    rounds(20, steady(10));
    rounds(10, steady(100));
    assertThat(pace.limit()).isLessThan(20);

    rounds(100, steady(100));

    assertThat(pace.limit()).isEqualTo(most);
  }

  @Test
  void answersThatTakeTooLongForTheLeases_areAskedForByTheFewest() {
    rounds(100, steady(1400));

    assertThat(pace.limit()).isEqualTo(Pace.LEAST);
  }

  /** A cold process, or a busy machine, is slow at first: the store itself would take more. */
  @Test
  void answersThatTakeLongerTheMoreThereAre_neverComeTooLate() {
    Store store = atOnce -> 1000 + 5.0 * atOnce;

    for (int round = 0; round < 100; round++) {
      assertThat(store.millis(pace.limit())).isLessThan((double) LONGEST.toMillis());
      rounds(1, store);
    }
    assertThat(pace.limit()).isGreaterThan(16);
  }

  @Test
  void afterAFailure_itBeginsAnew_andIsCautiousAboveHalfOfWhatFailed() {
    rounds(20, steady(10));
    assertThat(pace.limit()).isEqualTo(128);

    pace.failed();

    assertThat(pace.limit()).isEqualTo(Pace.LEAST);
    rounds(3, steady(10));
    assertThat(pace.limit()).isEqualTo(32);
    rounds(1, steady(10));
    assertThat(pace.limit()).isEqualTo(64 + 8);
    rounds(1, steady(10));
    assertThat(pace.limit()).isEqualTo(72 + 8);
  }

  @Test
  void whatIsAskedAtOnce_takesTheTimeOfOne_andMoreTakesItsShare() {
    assertThat(pace.toRenew(1000)).isZero();

    rounds(3, steady(1000));

    assertThat(pace.limit()).isEqualTo(32);
    assertThat(pace.toRenew(1)).isEqualTo(Duration.ofSeconds(1));
    assertThat(pace.toRenew(32)).isEqualTo(Duration.ofSeconds(1));
    assertThat(pace.toRenew(48)).isEqualTo(Duration.ofMillis(1500));
  }
}
