package io.firstclaim.processor.service.acts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.service.acts.ActMessage.Death;
import io.firstclaim.processor.service.acts.Dismissals.Dismissal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DismissalsTest {
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
  private static final Instant DIED = NOON.minusSeconds(600);
  private static final Duration KEPT = Duration.ofDays(8);
  private static final RecordId R = RecordId.of("r");

  private Instant now = NOON;
  private Optional<String> store = Optional.of("the table");
  private final Dismissals dismissals =
      new Dismissals(
          () -> store,
          KEPT,
          new TimeSource() {
            @Override
            public Moment now() {
              return new Moment(now, 0);
            }

            @Override
            public void sleep(Duration duration) {
              throw new AssertionError("nothing waits here");
            }
          });

  private static Death death(String record, long token) {
    return new Death(record, token, DIED.toString());
  }

  private void dismiss(String by, Death... deaths) {
    dismissAt(NOON, by, deaths);
  }

  private void dismissAt(Instant when, String by, Death... deaths) {
    dismissals.hear(
        new ActMessage.Dismissed(
            "act", "the table", Arrays.asList(deaths), by, "of a test", when.toString()));
  }

  @Test
  void dismissal_isOfOneEnd_andNotOfTheNextOne() {
    dismiss("otto", death("r", 3));

    assertThat(dismissals.have(R, 3, DIED)).isTrue();
    assertThat(dismissals.have(R, 4, DIED.plusSeconds(11)))
        .as("redriven, and dead again")
        .isFalse();
    assertThat(dismissals.of(R)).map(Dismissal::by).contains("otto");

    dismiss("rita", death("r", 4));
    assertThat(dismissals.have(R, 4, DIED)).isTrue();
    assertThat(dismissals.have(R, 3, DIED)).as("of which a redrive was undone").isTrue();
  }

  @Test
  void redriveThatIsUndone_afterTheDismissalOrBefore_leavesTheEndDismissed() {
    dismiss("otto", death("r", 3));

    assertThat(dismissals.have(R, 4, DIED)).as("its letter has the time of the end").isTrue();
    assertThat(dismissals.have(R, 4, DIED.plusSeconds(10))).as("by a broker's clock").isTrue();
    assertThat(dismissals.have(R, 4, DIED.plusSeconds(11))).as("dead again").isFalse();
    dismiss("otto", new Death("s", 3, NOON.minusMillis(1).toString()));
    assertThat(dismissals.have(RecordId.of("s"), 4, NOON.plusMillis(1)))
        .as("dead again since")
        .isFalse();
  }

  private static ClaimRecord stored(long token, ClaimState state) {
    return new ClaimRecord(token, 1, Nonce.random(), Fingerprint.of(new byte[0]), state, null);
  }

  @Test
  void whatTheStoreHas_isDismissedWhileThatIsTheEnd() {
    dismiss("otto", death("r", 3));
    var undone = stored(4, new ClaimState.Dead("a/a1", DIED, "HTTP 410"));
    var again = stored(4, new ClaimState.Dead("a/a1", NOON.plusSeconds(1), "HTTP 410"));

    var done = stored(3, new ClaimState.Done("a/a1", DIED, null));

    Dismissal dismissal = dismissals.of(R).orElseThrow();
    assertThat(dismissal.isOf(undone)).as("its redrive was undone").isTrue();
    assertThat(dismissal.isOf(again)).as("it was redriven, and is dead again").isFalse();
    assertThat(dismissal.isOf(done)).isFalse();
  }

  @Test
  void recordThatTheStoreHadForgotten_diesAsANewOne_underALowToken() {
    dismiss("otto", death("r", 5));
    Instant later = NOON.plus(Duration.ofHours(1)).plusMillis(1);
    assertThat(dismissals.have(R, 5, later.minusMillis(1))).as("by a clock that is ahead").isTrue();

    assertThat(dismissals.have(R, 5, later)).isFalse();
    assertThat(dismissals.have(R, 1, later)).isFalse();
    now = later.plusSeconds(60);
    dismissAt(now, "rita", new Death("r", 1, later.toString()));
    assertThat(dismissals.of(R)).map(Dismissal::by).contains("rita");
    assertThat(dismissals.have(R, 1, later)).isTrue();
  }

  @Test
  void dismissalThatAnEarlierBuildHasWritten_isOfItsTokenAndThoseBefore() {
    dismiss("otto", new Death("r", 3, null));

    assertThat(dismissals.have(R, 3, DIED)).isTrue();
    assertThat(dismissals.have(R, 4, DIED)).isFalse();
    assertThat(dismissals.have(R, 3, NOON.plusSeconds(3601))).isFalse();
  }

  @Test
  void dismissalOfTheSameEnd_orOfAnEarlierOne_changesNothing() {
    dismiss("otto", death("r", 3));
    dismiss("rita", death("r", 3), death("r", 2));

    assertThat(dismissals.of(R)).map(Dismissal::by).contains("otto");
    assertThat(dismissals.size()).isEqualTo(1);
  }

  @Test
  void anIdIsTakenByteForByte() {
    RecordId hostile = RecordId.of(new byte[] {'a', 0, (byte) 0xff});

    dismiss("otto", death(hostile.text(), 1));

    assertThat(dismissals.have(hostile, 1, DIED)).isTrue();
  }

  @Test
  void tokensOfAnotherStore_doNotCount() {
    dismiss("otto", death("r", 3));

    store = Optional.of("a new table");
    assertThat(dismissals.have(R, 3, DIED)).isFalse();
    assertThat(dismissals.page(10, null)).isEmpty();

    store = Optional.empty();
    assertThat(dismissals.have(R, 3, DIED)).isFalse();
  }

  @Test
  void dismissal_isForgottenWithItsClaim() {
    dismiss("otto", death("r", 3));

    now = NOON.plus(KEPT);
    assertThat(dismissals.have(R, 3, DIED)).isTrue();
    now = NOON.plus(KEPT).plusSeconds(1);
    assertThat(dismissals.have(R, 3, DIED)).isFalse();
    assertThat(dismissals.size()).as("in memory").isZero();
    dismiss("otto", death("another", 1));
    assertThat(dismissals.size()).as("heard late").isZero();
  }

  @Test
  void clockThatIsAheadForAWhile_hidesDismissals_andForgetsNone() {
    dismiss("otto", death("r", 3));
    now = NOON.plus(KEPT).plusSeconds(1);
    dismiss("otto", death("heard", 1));
    assertThat(dismissals.size()).isZero();

    now = NOON;
    assertThat(dismissals.have(R, 3, DIED)).isTrue();
    assertThat(dismissals.have(RecordId.of("heard"), 1, DIED)).isTrue();
    assertThat(dismissals.size()).isEqualTo(2);
  }

  @Test
  void dismissalThatIsPast_givesWayToTheNextOneOfItsRecord_underWhateverToken() {
    dismiss("otto", new Death("r", 5, null));
    now = NOON.plus(KEPT).plusSeconds(1);
    dismissAt(now, "rita", new Death("r", 1, null));

    assertThat(dismissals.of(R)).map(Dismissal::by).contains("rita");
  }

  @Test
  void notMoreAreRemembered_thanThereIsRoomFor() {
    for (int from = 0; from < Dismissals.MOST; from += 1_000) {
      dismiss(
          "otto",
          IntStream.range(from, from + 1_000)
              .mapToObj(i -> death("r" + i, 1))
              .toArray(Death[]::new));
    }
    dismiss("otto", death("one more", 1), death("r0", 2));

    assertThat(dismissals.size()).isEqualTo(Dismissals.MOST);
    assertThat(dismissals.have(RecordId.of("one more"), 1, DIED)).isFalse();
    assertThat(dismissals.have(RecordId.of("r0"), 2, DIED)).isTrue();
  }

  /** Anybody who may write acts may have dated it. */
  @Test
  void dismissalOfTheEndOfTime_isRefused() {
    assertThatThrownBy(() -> dismissAt(Instant.MAX, "otto", death("r", 3)))
        .isInstanceOf(DateTimeException.class);

    assertThat(dismissals.size()).isZero();
    assertThat(dismissals.have(R, 3, DIED)).isFalse();
  }

  @Test
  void whereThereIsNoRoom_whatIsPastMakesSome() {
    dismiss(
        "otto",
        IntStream.range(0, Dismissals.MOST).mapToObj(i -> death("r" + i, 1)).toArray(Death[]::new));
    now = NOON.plus(KEPT).plusSeconds(1);
    dismissAt(now, "rita", death("one more", 1));

    assertThat(dismissals.have(RecordId.of("one more"), 1, DIED)).isTrue();
  }

  @Test
  void pages_areSortedById() {
    dismiss("otto", death("c", 1), death("a", 1), death("b", 1));

    List<Dismissal> first = dismissals.page(2, null);
    assertThat(first).extracting(each -> each.record().text()).containsExactly("a", "b");
    assertThat(dismissals.page(2, first.getLast().record()))
        .extracting(each -> each.record().text())
        .containsExactly("c");
  }
}
