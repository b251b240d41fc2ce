package io.firstclaim.processor.service.acts;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.service.acts.ActMessage.Death;
import io.firstclaim.processor.service.acts.Dismissals.Dismissal;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DismissalsTest {
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
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

  private void dismiss(String by, Death... deaths) {
    dismissals.hear(
        new ActMessage.Dismissed(
            "act", "the table", Arrays.asList(deaths), by, "of a test", NOON.toString()));
  }

  @Test
  void dismissal_isOfOneEnd_andNotOfTheNextOne() {
    dismiss("otto", new Death("r", 3));

    assertThat(dismissals.have(R, 3)).isTrue();
    assertThat(dismissals.have(R, 4)).as("redriven, and dead again").isFalse();
    assertThat(dismissals.of(R)).map(Dismissal::by).contains("otto");

    dismiss("rita", new Death("r", 4));
    assertThat(dismissals.have(R, 4)).isTrue();
    assertThat(dismissals.have(R, 3)).as("of which a redrive was undone").isTrue();
  }

  @Test
  void dismissalOfTheSameEnd_orOfAnEarlierOne_changesNothing() {
    dismiss("otto", new Death("r", 3));
    dismiss("rita", new Death("r", 3), new Death("r", 2));

    assertThat(dismissals.of(R)).map(Dismissal::by).contains("otto");
    assertThat(dismissals.size()).isEqualTo(1);
  }

  @Test
  void anIdIsTakenByteForByte() {
    RecordId hostile = RecordId.of(new byte[] {'a', 0, (byte) 0xff});

    dismiss("otto", new Death(hostile.text(), 1));

    assertThat(dismissals.have(hostile, 1)).isTrue();
  }

  @Test
  void tokensOfAnotherStore_doNotCount() {
    dismiss("otto", new Death("r", 3));

    store = Optional.of("a new table");
    assertThat(dismissals.have(R, 3)).isFalse();
    assertThat(dismissals.page(10, null)).isEmpty();

    store = Optional.empty();
    assertThat(dismissals.have(R, 3)).isFalse();
  }

  @Test
  void dismissal_isForgottenWithItsClaim() {
    dismiss("otto", new Death("r", 3));

    now = NOON.plus(KEPT);
    assertThat(dismissals.have(R, 3)).isTrue();
    now = NOON.plus(KEPT).plusSeconds(1);
    assertThat(dismissals.have(R, 3)).isFalse();
    assertThat(dismissals.size()).as("in memory").isZero();
    dismiss("otto", new Death("another", 1));
    assertThat(dismissals.size()).as("heard late").isZero();
  }

  @Test
  void notMoreAreRemembered_thanThereIsRoomFor() {
    for (int from = 0; from < Dismissals.MOST; from += 1_000) {
      dismiss(
          "otto",
          IntStream.range(from, from + 1_000)
              .mapToObj(i -> new Death("r" + i, 1))
              .toArray(Death[]::new));
    }
    dismiss("otto", new Death("one more", 1), new Death("r0", 2));

    assertThat(dismissals.size()).isEqualTo(Dismissals.MOST);
    assertThat(dismissals.have(RecordId.of("one more"), 1)).isFalse();
    assertThat(dismissals.have(RecordId.of("r0"), 2)).isTrue();
  }

  @Test
  void pages_areSortedById() {
    dismiss("otto", new Death("c", 1), new Death("a", 1), new Death("b", 1));

    List<Dismissal> first = dismissals.page(2, null);
    assertThat(first).extracting(each -> each.record().text()).containsExactly("a", "b");
    assertThat(dismissals.page(2, first.getLast().record()))
        .extracting(each -> each.record().text())
        .containsExactly("c");
  }
}
