package io.firstclaim.processor.engine.admission;

import org.jspecify.annotations.Nullable;

/**
 * What the breaker does with records. What a state knows, it knows only while it lasts. Guarded by
 * the breaker, but for what says otherwise.
 */
sealed interface BreakerState permits ClosedBreaker, OpenBreaker {
  /** Why records wait; null if they do not. By any thread. */
  @Nullable String fault();

  /** Whether this record may be tried now; if not, it is called when it may. */
  boolean admits(Breaker.Trial trial);

  /** The downstream took this record. */
  void passed(Breaker.Trial trial);

  /** This record failed. */
  void failed(Breaker.Trial trial, String cause);

  /** This record has been tried, or is not to be tried for now. */
  void leaves(Breaker.Trial trial);
}
