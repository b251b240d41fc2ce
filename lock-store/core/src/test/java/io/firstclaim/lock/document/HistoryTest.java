package io.firstclaim.lock.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Nonce;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HistoryTest {
  private static History after(History history, int writers) {
    History later = history;
    for (int i = 0; i < writers; i++) {
      later = later.with(Nonce.random());
    }
    return later;
  }

  private final Nonce mine = Nonce.random();

  @Test
  void newestWrite_comesFirst_andTakesThePlaceOfItsWritersLast() {
    Nonce other = Nonce.random();
    History history = History.NONE.with(mine).with(other).with(mine.next());

    assertThat(history.writes()).containsExactly(mine.next(), other);
    assertThat(history.latest()).isEqualTo(mine.next());
    assertThat(history.has(mine)).isFalse();
  }

  @Test
  void write_isRemembered_whileFewerThanTheLimitOfOtherWritersFollow() {
    History before = after(History.NONE, 3);
    History written = before.with(mine);

    assertThat(after(written, History.WRITERS - 1).has(mine)).isTrue();
    assertThat(after(written, History.WRITERS).has(mine)).isFalse();
  }

  @Test
  void write_isRemembered_howeverOftenAnotherWriterFollows() {
    History history = History.NONE.with(mine);
    Nonce busy = Nonce.random();
    for (int i = 0; i < 1000; i++) {
      busy = busy.next();
      history = history.with(busy);
    }

    assertThat(history.has(mine)).isTrue();
  }

  @Test
  void missingWrite_didNotTake_whileNoneWasDropped() {
    assertThat(after(History.NONE, History.WRITERS - 1).wouldHave(mine, History.NONE)).isTrue();
    assertThat(after(History.NONE, History.WRITERS).wouldHave(mine, History.NONE)).isFalse();
  }

  @Test
  void missingWrite_didNotTake_whileAnEarlierOneIsStillThere() {
    History before = after(History.NONE, History.WRITERS);

    assertThat(after(before, History.WRITERS - 1).wouldHave(mine, before)).isTrue();
    assertThat(after(before, History.WRITERS).wouldHave(mine, before)).isFalse();
  }

  @Test
  void missingWrite_didNotTake_whileItsWritersEarlierOneIsThere() {
    History before = after(History.NONE.with(mine), 5);
    History later = after(before, History.WRITERS - 6);

    assertThat(later.wouldHave(mine.next(), before)).isTrue();
    assertThat(after(later, 60).wouldHave(mine.next(), before)).isFalse();
  }

  @Test
  void longestText_isReadBack_andFitsBesideAnS3Object() {
    History history = after(History.NONE, History.WRITERS);

    assertThat(History.parse(history.toString())).isEqualTo(history);
    assertThat(history.toString().getBytes(StandardCharsets.UTF_8).length).isEqualTo(1583);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",", "x", "00000000000000000000000000000000,"})
  void otherText_isNoHistory(String text) {
    assertThatThrownBy(() -> History.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
