package io.firstclaim.processor.engine.admission;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.admission.Breaker.Trial;
import io.firstclaim.processor.engine.testing.LogLines;
import io.firstclaim.processor.engine.testing.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated(LogLines.WHY_ALONE)
class BreakerTest {
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  private final TestTime time = TestTime.standing();
  private final Breaker breaker = new Breaker(time);
  private final List<String> called = new CopyOnWriteArrayList<>();

  private Trial trial(String name) {
    return trial("p0", name);
  }

  private Trial trial(String partition, String name) {
    return breaker.trial(
        new TestCandidate(name, partition, new InFlightLimit.Usage(), List.of(), called::add));
  }

  private Trial begun(String name) {
    return begun("p0", name);
  }

  private Trial begun(String partition, String name) {
    Trial trial = trial(partition, name);
    assertThat(trial.pass()).isNull();
    return trial;
  }

  private void fails(String partition, int times) {
    for (int i = 0; i < times; i++) {
      assertThat(begun(partition, "failing").failed("HTTP 500")).isEqualTo(i < times - 1);
    }
    assertThat(breaker.fault()).isEqualTo("HTTP 500");
  }

  private void mustWait(String partition, String name) {
    Trial trial = trial(partition, name);
    assertThat(trial.pass()).isNotNull();
    trial.leave();
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

  @Test
  void recordsThatWait_areCalled_thoughOneCallEndedInAnError() {
    open();
    AtomicBoolean fails = new AtomicBoolean(true);
    Trial trial =
        breaker.trial(
            new TestCandidate(
                "next",
                "p0",
                new InFlightLimit.Usage(),
                List.of(),
                name -> {
                  if (fails.getAndSet(false)) {
                    throw new OutOfMemoryError("by the test");
                  }
                  called.add(name);
                }));

    assertThat(trial.pass()).isNotNull();

    eventually(() -> called.contains("next")); // and again, until it leaves
    trial.leave();
  }

  // --- When it opens ---

  @Test
  void refusal_opensIt_ifNobodyHasPassed() {
    open();

    mustWait("p0", "next");
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

    assertThat(only.pass()).isNull();
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

    mustWait("p0", "next");
    assertThat(breaker.fault()).isEqualTo("HTTP 500");
  }

  @Test
  void failuresOfAFewRecords_howeverMany_areTheirOwn() {
    for (int record = 0; record < 9; record++) {
      Trial trial = trial("record-" + record);
      for (int i = 0; i < 100; i++) {
        assertThat(trial.pass()).isNull();
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

  // --- One partition, or all ---

  @Test
  void recordOfAPartitionThatHasNotFailed_mayTryAtOnce_andClosesIt() {
    fails("p0", 20);
    mustWait("p0", "more");
    Trial other = begun("p1", "other");
    mustWait("p2", "meanwhile");

    other.passed();

    assertThat(breaker.fault()).isNull();
    other.leave();
    assertThat(trial("p0", "more").pass()).isNull();
  }

  @Test
  void partitionThatFailedWhileAnotherPassed_hasNoSay_untilOneOfItsPasses() {
    fails("p0", 20);
    begun("p1", "other").passed();
    for (int i = 0; i < 100; i++) {
      assertThat(begun("p0", "poison").failed("HTTP 500")).isTrue();
    }

    begun("p0", "mended").passed();

    fails("p0", 18);
  }

  @Test
  void eachPartition_mayTryAtOnceOnlyOnce() {
    fails("p0", 20);
    for (String partition : List.of("p1", "p2")) {
      Trial trial = begun(partition, "fresh");
      assertThat(trial.failed("HTTP 500")).isFalse();
      trial.leave();
      mustWait(partition, "next");
    }

    lone("p0").passed();

    for (int i = 0; i < 50; i++) { // p1 and p2 have had their say
      assertThat(begun("p1", "poison").failed("HTTP 500")).isTrue();
    }
  }

  @Test
  void downstreamThatIsNotThere_isTriedByNoneAtOnce() {
    open();

    mustWait("p1", "other");
  }

  @Test
  void partitionThatPassesWhereAllPass_isNoLongerAmongThoseThatFailed() {
    passes(20);
    assertThat(begun("p1", "once").failed("HTTP 500")).isTrue();
    passes(20);
    begun("p1", "again").passed();
    fails("p0", 18);

    assertThat(trial("p1", "fresh").pass()).isNull();
  }

  // --- Whose failure it is ---

  @Test
  void thirdRefusalWhileOthersPass_isTheRecordsOwn() {
    Trial odd = trial("odd");
    List<Boolean> own = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      passes(1);
      assertThat(odd.pass()).isNull();
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
      assertThat(next.pass()).isNotNull();
      time.advance(pause.dividedBy(2).plusMillis(2));
      assertThat(next.pass()).isNull();
      assertThat(next.isCalledOff()).isFalse();
      mustWait("p0", "another");
      assertThat(next.refused("still gone")).isFalse();
      pause =
          pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0
              ? pause.multipliedBy(2)
              : LONGEST_PAUSE;
    }
    assertThat(breaker.fault()).isEqualTo("still gone");
  }

  /** Has the one that is called next try in vain, and says which one that was. */
  private String triesInVain(List<Trial> waiting, List<String> names) {
    called.clear();
    eventually(() -> !called.isEmpty());
    String name = called.getFirst();
    Trial next = waiting.get(names.indexOf(name));
    assertThat(waiting).filteredOn(trial -> trial != next).noneMatch(trial -> trial.pass() == null);
    time.advance(LONGEST_PAUSE);
    assertThat(next.pass()).isNull();
    assertThat(next.refused("still gone")).isFalse();
    next.leave();
    assertThat(next.pass()).isNotNull();
    return name;
  }

  @Test
  void onesThatWait_tryInTurn_andNobodyIsAheadOfThem() {
    open();
    List<String> names = List.of("a", "b", "c");
    List<Trial> waiting = names.stream().map(this::trial).toList();
    waiting.forEach(trial -> assertThat(trial.pass()).isNotNull());

    for (String name : List.of("a", "b", "c", "a", "b")) {
      time.advance(LONGEST_PAUSE);
      mustWait("p0", "new");
      assertThat(triesInVain(waiting, names)).isEqualTo(name);
    }
  }

  @Test
  void partitionsOfThoseThatWait_takeTurns() {
    open();
    List<String> names = List.of("a0", "b0", "c0", "a1", "a2");
    List<Trial> waiting = names.stream().map(name -> trial("p" + name.charAt(1), name)).toList();
    waiting.forEach(trial -> assertThat(trial.pass()).isNotNull());

    for (String name : List.of("a0", "a1", "a2", "b0", "a1", "a2", "c0", "a1")) {
      assertThat(triesInVain(waiting, names)).isEqualTo(name);
    }
  }

  @Test
  void oneThatEnds_isNotCalled_andLetsAnotherTry() {
    open();
    Trial waiting = trial("waiting");
    Trial a = lone("a");
    assertThat(waiting.pass()).isNotNull();
    waiting.leave();
    called.clear();
    a.leave();
    a.leave();

    assertThat(trial("b").pass()).isNull();
    assertThat(trial("c").pass()).isNotNull();
    eventually(() -> called.contains("c"));
    assertThat(called).doesNotContain("waiting", "a");
  }

  @Test
  void oneThatGetsNoAnswer_letsAnotherTryAfterAWhile() {
    open();
    Trial hangs = lone("hangs");
    time.advance(LONGEST_PAUSE.plusMillis(1));

    Trial other = begun("other");
    mustWait("p0", "third");

    assertThat(hangs.failed("no answer")).isFalse();
    mustWait("p0", "third");
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
    Trial lone = trial("lone");
    Trial waiting = trial("waiting");
    assertThat(lone.pass()).isNotNull();
    assertThat(waiting.pass()).isNotNull();

    time.advance(LONGEST_PAUSE);
    assertThat(lone.pass()).isNull();
    lone.passed();

    assertThat(breaker.fault()).isNull();
    eventually(() -> called.contains("waiting"));
    assertThat(waiting.pass()).isNull();
    assertThat(trial("more").pass()).isNull();
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
