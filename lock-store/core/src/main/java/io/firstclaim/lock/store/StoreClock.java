package io.firstclaim.lock.store;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.time.temporal.ChronoUnit;

/** The clock by which the leases of a store are written and judged. Thread-safe. */
public interface StoreClock {
  /** The store's time, in whole milliseconds; asks no store. */
  StoreMoment now();

  /**
   * Takes in the {@code Date} of an answer.
   *
   * @param date as HTTP has it
   * @param sent before the request was sent
   * @param received after the answer was there
   */
  default void observe(String date, Moment sent, Moment received) {}

  /**
   * The clock of a store that tells no time: this machine's wall clock is the store's. Right for
   * claims that one machine keeps; else all machines must agree to within the skew bound, and
   * nobody may set a clock.
   */
  static StoreClock ofMachine(TimeSource time) {
    return () -> {
      Moment now = time.now();
      return StoreMoment.of(new Moment(now.wall().truncatedTo(ChronoUnit.MILLIS), now.ticks()));
    };
  }
}
