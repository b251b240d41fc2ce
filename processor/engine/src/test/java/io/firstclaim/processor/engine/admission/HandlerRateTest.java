package io.firstclaim.processor.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.admission.HandlerRate.Slot;
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

  private Slot slot(HandlerRate of, String name) {
    return of.slot(
        new TestCandidate(name, "p0", new InFlightLimit.Usage(), List.of(), called::add));
  }

  private Slot slot(String name) {
    return slot(rate, name);
  }

  private List<Slot> slots(int count) {
    return IntStream.range(0, count).mapToObj(i -> slot("order-" + i)).toList();
  }

  @Test
  void handlersBegin_atTheRate_inTheOrderOfTheirComing() {
    List<Slot> slots = slots(50);
    slots.forEach(Slot::pass);
    List<Integer> begun = new ArrayList<>();
    for (int ticks = 0; begun.size() < slots.size(); ticks++) {
      for (int i = begun.size(); i < slots.size() && slots.get(i).pass() == null; i++) {
        slots.get(i).begins();
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
    Slot first = slot("first");
    Slot second = slot("second");
    Slot third = slot("third");

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
    Slot done = slot("done elsewhere");
    Slot next = slot("next");
    assertThat(done.pass()).isNull();
    assertThat(next.pass()).isPositive();

    done.leave();
    done.leave();

    assertThat(called).containsExactly("next");
    assertThat(next.pass()).isNull();
  }

  @Test
  void turnThatWasUsed_isNotGivenBack() {
    Slot used = slot("used");
    assertThat(used.pass()).isNull();
    used.begins();
    used.leave();

    assertThat(slot("next").pass()).isEqualTo(TENTH);
  }

  @Test
  void whoLeavesTheLine_letsTheNextBeFirst() {
    Slot _ = passed("used");
    Slot first = slot("first");
    Slot second = slot("second");
    assertThat(first.pass()).isPositive();
    assertThat(second.pass()).isPositive();

    first.leave();

    assertThat(called).containsExactly("second");
    assertThat(second.pass()).isEqualTo(TENTH);
  }

  private Slot passed(String name) {
    Slot slot = slot(name);
    assertThat(slot.pass()).isNull();
    return slot;
  }

  @Test
  void noMoreThanASecondsWorth_isOnItsWayToTheHandlers() {
    List<Slot> held = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      held.add(passed("order-" + i));
      time.advance(TENTH);
    }
    time.advance(Duration.ofHours(1));
    Slot next = slot("next");
    assertThat(next.pass()).isEqualTo(Checkpoint.LONG);

    held.getFirst().begins();

    assertThat(called).containsExactly("next");
    assertThat(next.pass()).isNull();
  }

  @Test
  void handlerThatBeginsWithoutItsTurn_takesOne() {
    slot("whose claim may have been granted").begins();

    assertThat(slot("next").pass()).isNotNull();
  }

  @Test
  void idleness_isNotSavedUp() {
    time.advance(Duration.ofHours(1));
    Slot _ = passed("first");

    assertThat(slot("second").pass()).isPositive();
  }

  @Test
  void withoutARate_everyonePasses() {
    HandlerRate none = new HandlerRate(Optional.empty(), time);
    for (int i = 0; i < 1000; i++) {
      assertThat(slot(none, "order-" + i).pass()).isNull();
    }
  }
}
