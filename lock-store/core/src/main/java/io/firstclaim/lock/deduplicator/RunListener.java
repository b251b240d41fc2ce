package io.firstclaim.lock.deduplicator;

import io.firstclaim.lock.RecordId;
import java.time.Duration;

/** Hears how each {@link Deduplicator#run} ended. Called on the threads that run; thread-safe. */
@FunctionalInterface
public interface RunListener {
  /**
   * A run has ended. Not called for one that threw.
   *
   * @param took from the claim to the end
   */
  void ended(RecordId id, RunResult result, Duration took);
}
