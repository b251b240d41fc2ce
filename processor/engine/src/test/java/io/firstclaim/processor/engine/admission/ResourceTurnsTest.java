package io.firstclaim.processor.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.testing.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ResourceTurnsTest {
  private final TestTime time = TestTime.standing();
  private final ResourceTurns turns = new ResourceTurns(time);
  private final List<String> called = new ArrayList<>();

  private ResourceTurns.Turn turn(String id, String... resources) {
    return turns.turn(
        new TestCandidate(id, "p0", new InFlightLimit.Usage(), List.of(resources), called::add));
  }

  private ResourceTurns.Turn taken(String id, String... resources) {
    ResourceTurns.Turn turn = turn(id, resources);
    assertThat(turn.pass()).isNull();
    return turn;
  }

  private ResourceTurns.Turn waiting(String id, String... resources) {
    ResourceTurns.Turn turn = turn(id, resources);
    assertThat(turn.pass()).isPositive();
    return turn;
  }

  private static boolean mayGo(ResourceTurns.Turn turn) {
    return turn.pass() == null;
  }

  @Test
  void recordsOnOneResource_goOneAfterTheOther_firstComeFirstServed() {
    ResourceTurns.Turn first = taken("1", "x");
    ResourceTurns.Turn second = waiting("2", "x");
    ResourceTurns.Turn third = waiting("3", "x");

    first.leave();

    assertThat(called).containsExactly("2");
    assertThat(mayGo(third)).isFalse();
    assertThat(mayGo(second)).isTrue();
    second.leave();
    assertThat(called).containsExactly("2", "3");
    assertThat(mayGo(third)).isTrue();
  }

  @Test
  void recordsOnDifferentResources_goSideBySide() {
    taken("1", "x", "y");
    taken("2", "z");
  }

  @Test
  void record_hasItsTurnEverywhere_orStandsInLineEverywhere() {
    ResourceTurns.Turn first = taken("1", "x");
    ResourceTurns.Turn both = waiting("2", "x", "y");
    ResourceTurns.Turn later = waiting("3", "y");

    first.leave();

    assertThat(mayGo(later)).as("it came later").isFalse();
    assertThat(mayGo(both)).isTrue();
    both.leave();
    assertThat(mayGo(later)).isTrue();
  }

  @Test
  void recordThatLeavesItsLines_isWaitedForNoMore() {
    ResourceTurns.Turn first = taken("1", "x");
    ResourceTurns.Turn both = waiting("2", "x", "y");
    ResourceTurns.Turn later = waiting("3", "y");

    both.leave();

    assertThat(called).containsExactly("3");
    assertThat(mayGo(later)).isTrue();
    first.leave();
    both.leave();
    assertThat(mayGo(both)).as("it gets in line again").isFalse();
  }

  @Test
  void blockedRecord_keepsItsPlaceAtWhatIsHeld_andLetsOthersPassElsewhere() {
    ResourceTurns.Turn blocked = taken("1", "x", "y");
    ResourceTurns.Turn onX = waiting("2", "x");
    ResourceTurns.Turn onY = waiting("3", "y");

    assertThat(blocked.blocked(List.of("y"))).isFalse();

    assertThat(called).containsExactly("2");
    assertThat(mayGo(onX)).isTrue();
    assertThat(mayGo(onY)).isFalse();
    assertThat(mayGo(blocked)).as("x is taken").isFalse();
    ResourceTurns.Turn next = waiting("4", "x");
    onX.leave();
    assertThat(mayGo(next)).as("who comes back stands in front").isFalse();
    assertThat(mayGo(blocked)).isTrue();
  }

  @Test
  void blockedRecord_isPassedByNoMoreThanARun() {
    ResourceTurns.Turn blocked = taken("first", "x", "y");
    assertThat(blocked.blocked(List.of("y"))).isFalse();

    for (int i = 0; i < ResourceTurns.RUN; i++) {
      taken("next-" + i, "x").leave();
    }

    waiting("one too many", "x");
    assertThat(mayGo(blocked)).isTrue();
  }

  @Test
  void blockedRecord_isWoken_whenWhatIsInItsWayIsHeardToBeFree() {
    ResourceTurns.Turn blocked = taken("1", "x", "y");
    assertThat(blocked.blocked(List.of("y"))).isFalse();

    turns.ended(RecordId.of("other"), List.of("x"));
    assertThat(called).isEmpty();
    turns.ended(RecordId.of("other"), List.of("y"));
    assertThat(called).containsExactly("1 is free");
  }

  @Test
  void outcomeThatIsHeardWhileTheStoreIsAsked_isNotMissed() {
    ResourceTurns.Turn turn = taken("1", "x");
    turns.ended(RecordId.of("before"), List.of("x"));
    turn.asks();
    turns.ended(RecordId.of("other"), List.of("x"));

    assertThat(turn.blocked(List.of("x"))).isTrue();
    assertThat(mayGo(turn)).as("it has kept its turn").isTrue();
    turn.asks();
    assertThat(turn.blocked(List.of("x"))).isFalse();
  }

  @Test
  void recordThatWaitsElsewhere_isPassedByARun_andThenItsResourcesAreLeftToIt() {
    turns.waits(RecordId.of("theirs"), List.of("x", "y"));
    for (int i = 0; i < ResourceTurns.RUN; i++) {
      taken("ours-" + i, i % 2 == 0 ? "x" : "y").leave();
    }

    ResourceTurns.Turn next = turn("next", "x");
    assertThat(next.pass()).isEqualTo(ResourceTurns.STAND_BACK);
    assertThat(turn("another", "y").pass()).isEqualTo(ResourceTurns.STAND_BACK);
    taken("apart", "z");

    turns.ended(RecordId.of("theirs"), List.of("x", "y"));
    assertThat(called).contains("next", "another");
    assertThat(mayGo(next)).isTrue();
  }

  @Test
  void resources_areLeftToOthers_forAMomentAtMost() {
    turns.waits(RecordId.of("theirs"), List.of("x"));
    for (int i = 0; i < ResourceTurns.RUN; i++) {
      taken("ours-" + i, "x").leave();
    }
    ResourceTurns.Turn next = waiting("next", "x");

    time.advance(ResourceTurns.STAND_BACK.minusMillis(500));
    assertThat(next.pass()).isEqualTo(Duration.ofMillis(500));
    time.advance(Duration.ofMillis(500));

    assertThat(mayGo(next)).isTrue();
  }

  @Test
  void oldestOfVeryManyThatWaitElsewhere_isForgotten() {
    turns.waits(RecordId.of("oldest"), List.of("x"));
    for (int i = 0; i < 1000; i++) {
      turns.waits(RecordId.of("theirs-" + i), List.of("y"));
    }
    for (int i = 0; i < ResourceTurns.RUN; i++) {
      taken("ours-" + i, "x").leave();
      taken("others-" + i, "y").leave();
    }

    taken("next", "x");
    waiting("another", "y");
  }

  @Test
  void longNamesOfWhatOthersWaitFor_takeBoundedMemory() {
    turns.waits(RecordId.of("oldest"), List.of("x"));
    for (int i = 0; i < 5; i++) {
      turns.waits(RecordId.of("theirs-" + i), List.of("y".repeat(1 << 20) + i));
    }
    turns.ended(RecordId.of("theirs-4"), List.of());
    turns.waits(RecordId.of("latest"), List.of("z"));
    for (int i = 0; i < ResourceTurns.RUN; i++) {
      taken("ours-" + i, "x").leave();
      taken("others-" + i, "z").leave();
    }

    taken("next", "x");
    waiting("another", "z");
  }

  @Test
  void recordsThatWaitedElsewhere_andWereHandledHere_leaveNothingBehind() {
    String name = "y".repeat(1 << 20);
    for (int i = 0; i < 10; i++) {
      turns.waits(RecordId.of("theirs-" + i), List.of(name));
      taken("theirs-" + i, name).leave();
    }
    for (int i = 0; i < 10; i++) {
      turns.waits(RecordId.of("stood-back-for-" + i), List.of(name));
      for (int run = 0; run < ResourceTurns.RUN; run++) {
        taken("ours-" + run, name).leave();
      }
      time.advance(ResourceTurns.STAND_BACK);
      taken("next", name).leave();
    }

    turns.waits(RecordId.of("latest"), List.of("z"));
    for (int i = 0; i < ResourceTurns.RUN; i++) {
      taken("ours-" + i, "z").leave();
    }
    waiting("another", "z");
  }

  @Test
  void recordThatWaitsElsewhere_mayGoHere() {
    turns.waits(RecordId.of("theirs"), List.of("x"));
    for (int i = 0; i < ResourceTurns.RUN; i++) {
      taken("ours-" + i, "x").leave();
    }
    ResourceTurns.Turn same = taken("theirs", "x");
    ResourceTurns.Turn next = waiting("next", "x");

    same.leave();

    assertThat(mayGo(next)).as("it has ended").isTrue();
  }

  @Test
  void manyRecordsAtRandomResources_allGetTheirTurn_andNeverTwoAtOnce() throws Exception {
    // Whoever is called takes its turn at once, so that nobody is left if all have been called.
    Random random = new Random(7);
    List<ResourceTurns.Turn> all = new ArrayList<>();
    List<List<String>> wants = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      List<String> wanted = random.ints(3, 0, 10).distinct().mapToObj(Integer::toString).toList();
      wants.add(wanted);
      all.add(turn(Integer.toString(i), wanted.toArray(String[]::new)));
    }
    List<Integer> open = new ArrayList<>();
    List<Integer> waiting = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      (all.get(i).pass() == null ? open : waiting).add(i);
    }
    int ended = 0;
    while (!open.isEmpty()) {
      assertThat(open.stream().flatMap(i -> wants.get(i).stream())).doesNotHaveDuplicates();
      called.clear();
      int next = open.get(random.nextInt(open.size()));
      open.removeIf(i -> i == next);
      all.get(next).leave();
      ended++;
      for (String id : List.copyOf(called)) {
        int i = Integer.parseInt(id);
        if (!open.contains(i) && all.get(i).pass() == null) {
          open.add(i);
        }
      }
    }
    assertThat(ended).isEqualTo(500);
    assertThat(waiting).isNotEmpty();
  }
}
