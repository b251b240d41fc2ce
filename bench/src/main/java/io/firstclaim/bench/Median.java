package io.firstclaim.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;

/** The middle one of figures; of an even number of them the upper one. */
final class Median {
  private Median() {}

  static double of(List<Double> all) {
    return all.stream().sorted().skip(all.size() / 2).findFirst().orElseThrow();
  }

  static <T> double of(List<T> all, ToDoubleFunction<T> what) {
    return of(all.stream().map(what::applyAsDouble).toList());
  }
}
