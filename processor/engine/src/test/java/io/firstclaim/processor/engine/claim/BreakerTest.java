package io.firstclaim.processor.engine.claim;

import static io.firstclaim.processor.engine.claim.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.claim.Breaker.Trial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BreakerTest {
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  private final TestTime time = TestTime.standing();
  private final Breaker breaker = new Breaker(time);
  private final List<String> called = new CopyOnWriteArrayList<>();

  private Trial trial(String name) {
    return breaker.trial(() -> called.add(name));
  }

  private Trial begun(String name) {
    Trial trial = trial(name);
    assertThat(trial.begin()).isTrue();
    return trial;
  }

  private void passes(int times) {
    for (int i = 0; i < times; i++) {
      begun("passing").passed();
    }
  }

  private void open() {
    assertThat(begun("first").refused("gone")).isFalse();
    assertThat(breaker.fault()).isEqualTo("gone");
  }

  /** Lets time pass until one may try. */
  private Trial lone(String name) {
    time.advance(LONGEST_PAUSE);
    return begun(name);
  }

  // --- When it opens ---

  @Test
  void refusal_opensIt_ifNobodyHasPassed() {
    open();

    assertThat(trial("next").begin()).isFalse();
  }

  @Test
  void oneThatIsRefusedWhileOthersPass_leavesItClosed() {
    passes(20);

    assertThat(begun("odd").refused("gone")).isFalse();

    assertThat(breaker.fault()).isNull();
  }

  @Test
  void refusals_openIt_onceMostOfTheLastOnesFailed() {
    passes(20);
    for (int i = 0; i < 10; i++) {
      assertThat(begun("refused").refused("gone")).isFalse();
      assertThat(breaker.fault()).isNull();
    }

    assertThat(begun("refused").refused("gone")).isFalse();

    assertThat(breaker.fault()).isEqualTo("gone");
  }

  @Test
  void sameRecordRefusedTwice_opensIt_ifNobodyPassedInBetween() {
    passes(20);
    Trial only = begun("only");
    assertThat(only.refused("gone")).isFalse();
    assertThat(breaker.fault()).isNull();

    assertThat(only.begin()).isTrue();
    assertThat(only.refused("gone")).isFalse();

    assertThat(breaker.fault()).isEqualTo("gone");
  }

  @Test
  void failuresOfNearlyAllRecords_openIt_andAreNotTheirOwn() {
    passes(2);
    List<Boolean> own =
        IntStream.range(0, 18).mapToObj(i -> begun("record-" + i).failed("HTTP 500")).toList();

    assertThat(own.subList(0, 17)).containsOnly(true);
    assertThat(own.getLast()).isFalse();
    assertThat(breaker.fault()).isEqualTo("HTTP 500");
  }

  @Test
  void passAmongNearlyAllFailures_opensItWithTheLastCause_ifItIsTheOneThatMakesThemEnough() {
    for (int i = 0; i < 19; i++) {
      assertThat(begun("record-" + i).failed("HTTP 500")).isTrue();
    }

    begun("passing").passed();

    assertThat(trial("next").begin()).isFalse();
    assertThat(breaker.fault()).isEqualTo("HTTP 500");
  }

  @Test
  void failuresOfAFewRecords_howeverMany_areTheirOwn() {
    for (int record = 0; record < 9; record++) {
      Trial trial = trial("record-" + record);
      for (int i = 0; i < 100; i++) {
        assertThat(trial.begin()).isTrue();
        assertThat(trial.failed("HTTP 500")).isTrue();
      }
    }
  }

  @Test
  void failuresOfSome_leaveItClosed() {
    for (int i = 0; i < 100; i++) {
      passes(1);
      for (int failed = 0; failed < 5; failed++) {
        assertThat(begun("failing").failed("HTTP 500")).isTrue();
      }
    }
  }

  // --- Whose failure it is ---

  @Test
  void thirdRefusalWhileOthersPass_isTheRecordsOwn() {
    Trial odd = trial("odd");
    List<Boolean> own = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      passes(1);
      assertThat(odd.begin()).isTrue();
      own.add(odd.refused("HTTP 503"));
    }

    assertThat(own).containsExactly(false, false, true, true, true);
    assertThat(odd.refusals()).isEqualTo(5);
    assertThat(breaker.fault()).isNull();
  }

  @Test
  void whoeverWasLetThroughBefore_isCalledOff_orFailsWithoutBlame() {
    passes(20);
    Trial early = begun("early");
    Trial slow = begun("slow");
    for (int i = 0; i < 11; i++) {
      assertThat(begun("refused").refused("gone")).isFalse();
    }

    assertThat(early.isCalledOff()).isTrue();
    assertThat(slow.failed("broken off")).isFalse();
    assertThat(slow.refused("gone")).isFalse();
  }

  // --- While it is open ---

  @Test
  void oneAtATimeTries_afterAPauseThatGrows() {
    open();
    Duration pause = Duration.ofMillis(500);
    for (int i = 0; i < 8; i++) {
      Trial next = trial("next");
      time.advance(pause.dividedBy(2).minusMillis(1));
      assertThat(next.begin()).isFalse();
      time.advance(pause.dividedBy(2).plusMillis(2));
      assertThat(next.begin()).isTrue();
      assertThat(next.isCalledOff()).isFalse();
      assertThat(trial("another").begin()).isFalse();
      assertThat(next.refused("still gone")).isFalse();
      pause =
          pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0
              ? pause.multipliedBy(2)
              : LONGEST_PAUSE;
    }
    assertThat(breaker.fault()).isEqualTo("still gone");
  }

  @Test
  void onesThatWait_areCalledInTurn() {
    open();
    List<Trial> waiting = List.of(trial("a"), trial("b"), trial("c"));

    waiting.forEach(trial -> assertThat(trial.begin()).isFalse());

    eventually(() -> called.equals(List.of("a", "b", "c")));
  }

  @Test
  void oneThatWasCalledInVain_isCalledAgainAfterTheOthers() {
    open();
    Trial a = trial("a");
    Trial b = trial("b");
    assertThat(a.begin()).isFalse();
    eventually(() -> called.equals(List.of("a")));
    assertThat(b.begin()).isFalse();
    assertThat(a.begin()).isFalse();

    eventually(() -> called.equals(List.of("a", "b", "a")));
  }

  @Test
  void oneThatEnds_isNotCalled_andLetsAnotherTry() {
    open();
    Trial waiting = trial("waiting");
    Trial a = lone("a");
    assertThat(waiting.begin()).isFalse();
    waiting.end();
    called.clear();
    a.end();
    a.end();

    assertThat(trial("b").begin()).isTrue();
    assertThat(trial("c").begin()).isFalse();
    eventually(() -> called.contains("c"));
    assertThat(called).doesNotContain("waiting", "a");
  }

  @Test
  void oneThatGetsNoAnswer_letsAnotherTryAfterAWhile() {
    open();
    Trial hangs = lone("hangs");
    time.advance(LONGEST_PAUSE.plusMillis(1));

    Trial other = begun("other");
    assertThat(trial("third").begin()).isFalse();

    assertThat(hangs.failed("no answer")).isFalse();
    assertThat(trial("third").begin()).isFalse();
    other.passed();
    assertThat(breaker.fault()).isNull();
  }

  // --- What is said ---

  @Test
  void outage_isOneLineWhenItBegins_andOneWhenItEnds() {
    try (LogLines log = new LogLines(Breaker.class.getName())) {
      open();
      for (int i = 0; i < 5; i++) {
        assertThat(lone("vain").refused("still gone")).isFalse();
      }
      lone("lone").passed();

      assertThat(log.of("WARN"))
          .containsExactly(
              "WARN The downstream is not there; records wait, and one tries now and then: gone");
      assertThat(log.of("INFO")).containsExactly("INFO The downstream is there again");
    }
  }

  @Test
  void breakerThatOpensAgainAndAgain_saysSoOnceAMinute() {
    try (LogLines log = new LogLines(Breaker.class.getName())) {
      passes(1);
      for (int i = 0; i < 12; i++) {
        assertThat(begun("x").refused("gone")).isFalse();
        assertThat(begun("y").refused("gone")).isFalse();
        lone("lone").passed();
      }

      assertThat(log.of("WARN")).hasSize(2);
      assertThat(log.of("INFO")).hasSize(2);
    }
  }

  // --- When it closes ---

  @Test
  void onePass_letsAllGoOn() {
    open();
    Trial waiting = trial("waiting");
    assertThat(waiting.begin()).isFalse();

    lone("lone").passed();

    assertThat(breaker.fault()).isNull();
    eventually(() -> called.contains("waiting"));
    assertThat(waiting.begin()).isTrue();
    assertThat(trial("more").begin()).isTrue();
  }

  @Test
  void passOfOneLetThroughBefore_doesNotCloseIt() {
    passes(20);
    Trial early = begun("early");
    for (int i = 0; i < 11; i++) {
      assertThat(begun("refused").refused("gone")).isFalse();
    }

    early.passed();

    assertThat(breaker.fault()).isEqualTo("gone");
  }

  @Test
  void refusalOfOneRecordRightAfter_doesNotOpenItAgain() {
    open();
    lone("lone").passed();

    assertThat(begun("odd").refused("HTTP 503")).isFalse();

    assertThat(breaker.fault()).isNull();
  }
}
