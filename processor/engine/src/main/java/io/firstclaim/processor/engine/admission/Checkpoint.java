package io.firstclaim.processor.engine.admission;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What one record has to pass before it is claimed, and what it has there. Used by the record's own
 * thread; {@link #leave()} by any.
 */
public interface Checkpoint {
  /**
   * The bound of a wait whose end is sure to be called. Such a wait goes on without a bound, which
   * would cost each record a timer.
   */
  Duration LONG = Duration.ofHours(1);

  /**
   * Passes, if the record may. Who has passed already passes again.
   *
   * @return null if it has passed; otherwise how long it waits, at most, before it asks again, if
   *     it is not called earlier
   */
  @Nullable Duration pass() throws InterruptedException;

  /** The record was woken while it waited here, and not as its time was up. */
  default void woken() {}

  /** Gives back what passing took, or stops waiting for it. Calling it again has no effect. */
  void leave();
}
