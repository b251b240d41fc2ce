package io.firstclaim.processor.dataset;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AtOnceTest {
  private static List<Throwable> faults() {
    return List.of(new OutOfMemoryError("by the test"), new IllegalArgumentException("wrong"));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void faultOfOneTask_isThrownAsItIs(Throwable fault) {
    Callable<String> fails =
        () -> {
          switch (fault) {
            case Error error -> throw error;
            case Exception exception -> throw exception;
            default -> throw new AssertionError(fault);
          }
        };

    assertThatThrownBy(() -> AtOnce.all(List.of(() -> "done", fails))).isSameAs(fault);
  }
}
