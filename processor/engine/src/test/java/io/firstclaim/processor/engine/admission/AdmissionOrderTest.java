package io.firstclaim.processor.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.testing.Architecture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The order of the checkpoints in {@code docs/architecture.md} is that of the code. */
class AdmissionOrderTest {
  private static final List<String> ORDER =
      Admission.ORDER.stream().map(step -> step.what().name()).toList();

  @Test
  void checkpoints_areToldInTheirOrder() {
    List<String> told =
        Stream.iterate(1, i -> i <= ORDER.size() + 1, i -> i + 1)
            .flatMap(i -> lines("The walk of a record", i + ". `"))
            .map(line -> line.split("`", -1)[1])
            .toList();

    assertThat(told).isEqualTo(ORDER);
  }

  @Test
  void everyCheckpoint_hasItsWaitInTheTable() throws IOException {
    for (String step : ORDER.subList(0, ORDER.size() - 1)) {
      assertThat(lines("Where a record may wait", "| `Queued` `" + step + "`")).hasSize(1);
    }
    assertThat(Architecture.lines("Where a record may wait", "| `Queued`"))
        .as("the last one is waited for as it is entered")
        .hasSize(ORDER.size() - 1);
  }

  private static Stream<String> lines(String heading, String begin) {
    try {
      return Architecture.lines(heading, begin).stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
