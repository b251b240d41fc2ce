package io.firstclaim.processor.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.testing.Architecture;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tables of states in {@code docs/architecture.md} are those of the code. */
class StateTest {
  private static final Pattern NAME = Pattern.compile("`([A-Za-z]+)`");

  /** The records that this sealed type permits. */
  private static Stream<Class<?>> leaves(Class<?> type) {
    return type.isSealed()
        ? Arrays.stream(type.getPermittedSubclasses()).flatMap(StateTest::leaves).distinct()
        : Stream.of(type);
  }

  private static List<String> names(Class<?> type) {
    return leaves(type).map(Class::getSimpleName).toList();
  }

  /** The states that begin the rows of the table below this heading. */
  private static List<String> states(String heading) throws IOException {
    return Architecture.lines(heading, "| `").stream()
        .map(row -> NAME.matcher(row).results().findFirst().orElseThrow().group(1))
        .distinct()
        .toList();
  }

  @Test
  void everyStateInWhichARecordWaits_isInTheTableOfWaits_andNoOther() throws IOException {
    assertThat(states("Where a record may wait"))
        .containsExactlyInAnyOrderElementsOf(names(State.Waiting.class));
  }

  @Test
  void everyOtherState_isInTheTableOfTheWalk_andWhatIsNextAreStates() throws IOException {
    List<String> waiting = names(State.Waiting.class);
    List<String> walk = states("The walk of a record");

    assertThat(Stream.concat(waiting.stream(), walk.stream()).distinct())
        .containsExactlyInAnyOrderElementsOf(names(State.class));
    for (String row : Architecture.lines("The walk of a record", "| `")) {
      String next = row.split("\\|", -1)[3];
      assertThat(NAME.matcher(next).results().map(found -> found.group(1)).toList())
          .as(row)
          .isSubsetOf(names(State.class));
    }
  }
}
