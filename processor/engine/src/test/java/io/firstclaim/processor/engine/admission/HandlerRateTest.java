package io.firstclaim.processor.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.admission.HandlerRate.Turn;
import io.firstclaim.processor.engine.testing.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HandlerRateTest {
  private static final Duration TENTH = Duration.ofMillis(100);

  private final TestTime time = TestTime.standing();
  private final HandlerRate rate = new HandlerRate(Optional.of(10), time);
  private final List<String> called = new ArrayList<>();

  private Turn turn(HandlerRate of, String name) {
    return of.turn(
        new TestCandidate(name, "p0", new InFlightLimit.Usage(), List.of(), called::add));
  }

  private Turn turn(String name) {
    return turn(rate, name);
  }

  private List<Turn> turns(int count) {
    return IntStream.range(0, count).mapToObj(i -> turn("order-" + i)).toList();
  }

  @Test
  void handlersBegin_atTheRate_inTheOrderOfTheirComing() {
    List<Turn> turns = turns(50);
    turns.forEach(Turn::pass);
    List<Integer> begun = new ArrayList<>();
    for (int ticks = 0; begun.size() < turns.size(); ticks++) {
      for (int i = begun.size(); i < turns.size() && turns.get(i).pass() == null; i++) {
        turns.get(i).begins();
        begun.add(ticks);
      }
      time.advance(Duration.ofMillis(10));
    }
    for (int i = 10; i < begun.size(); i++) {
      assertThat(begun.get(i) - begun.get(i - 10)).as("ticks of 10 ms").isBetween(98, 102);
    }
  }

  @Test
  void whoIsFirst_isToldHowLong_andTheNextIsCalled() {
    Turn first = turn("first");
    Turn second = turn("second");
    Turn third = turn("third");

    assertThat(first.pass()).isNull();
    assertThat(second.pass()).isEqualTo(TENTH);
    assertThat(third.pass()).isEqualTo(Checkpoint.LONG);
    time.advance(TENTH);
    assertThat(second.pass()).isNull();
    assertThat(second.pass()).as("once more").isNull();
    assertThat(called).containsExactly("third");
    assertThat(third.pass()).isEqualTo(TENTH);
  }

  @Test
  void turnThatComesToNoHandler_isTheNextOnes() {
    Turn done = turn("done elsewhere");
    Turn next = turn("next");
    assertThat(done.pass()).isNull();
    assertThat(next.pass()).isPositive();

    done.leave();
    done.leave();

    assertThat(called).containsExactly("next");
    assertThat(next.pass()).isNull();
  }

  @Test
  void turnThatWasUsed_isNotGivenBack() {
    Turn used = turn("used");
    assertThat(used.pass()).isNull();
    used.begins();
    used.leave();

    assertThat(turn("next").pass()).isEqualTo(TENTH);
  }

  @Test
  void whoLeavesTheLine_letsTheNextBeFirst() {
    Turn _ = passed("used");
    Turn first = turn("first");
    Turn second = turn("second");
    assertThat(first.pass()).isPositive();
    assertThat(second.pass()).isPositive();

    first.leave();

    assertThat(called).containsExactly("second");
    assertThat(second.pass()).isEqualTo(TENTH);
  }

  private Turn passed(String name) {
    Turn turn = turn(name);
    assertThat(turn.pass()).isNull();
    return turn;
  }

  @Test
  void noMoreThanASecondsWorth_isOnItsWayToTheHandlers() {
    List<Turn> held = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      held.add(passed("order-" + i));
      time.advance(TENTH);
    }
    time.advance(Duration.ofHours(1));
    Turn next = turn("next");
    assertThat(next.pass()).isEqualTo(Checkpoint.LONG);

    held.getFirst().begins();

    assertThat(called).containsExactly("next");
    assertThat(next.pass()).isNull();
  }

  @Test
  void handlerThatBeginsWithoutItsTurn_takesOne() {
    turn("whose claim may have been granted").begins();

    assertThat(turn("next").pass()).isNotNull();
  }

  @Test
  void idleness_isNotSavedUp() {
    time.advance(Duration.ofHours(1));
    Turn _ = passed("first");

    assertThat(turn("second").pass()).isPositive();
  }

  @Test
  void withoutARate_everyonePasses() {
    HandlerRate none = new HandlerRate(Optional.empty(), time);
    for (int i = 0; i < 1000; i++) {
      assertThat(turn(none, "order-" + i).pass()).isNull();
    }
  }
}
