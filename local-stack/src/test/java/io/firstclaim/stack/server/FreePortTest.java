package io.firstclaim.stack.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FreePortTest {
  @Test
  void portsThatAreNotListenedOnYet_areGivenOnce() {
    List<Integer> ports =
        IntStream.range(0, 200).parallel().mapToObj(_ -> FreePort.next()).toList();

    assertThat(ports).doesNotHaveDuplicates();
  }
}
