package io.firstclaim.processor.service.metrics;

import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * A number as it was when it was last known, for the moments in which it is not, such as while a
 * partition moves: 0 would be taken for an answer. Thread-safe.
 */
final class LastKnown {
  private final Supplier<OptionalLong> number;
  private volatile double last;

  /**
   * This number.
   *
   * @param before what it is before it was ever known
   * @param number empty while it is not known
   */
  LastKnown(double before, Supplier<OptionalLong> number) {
    this.last = before;
    this.number = number;
  }

  /** The number now, or else as it was. */
  double now() {
    number.get().ifPresent(known -> last = known);
    return last;
  }
}
