package io.firstclaim.lock.document;

import java.time.Duration;

/**
 * Hears how many tries the updates of documents take, for metrics. Called on the threads that
 * update. Must not block or throw. Thread-safe.
 */
@FunctionalInterface
public interface UpdateListener {
  /** Hears nothing. */
  UpdateListener NONE = (key, retries, took) -> {};

  /**
   * An update, or a deletion, has ended, whether it was made or not.
   *
   * @param retries how many tries followed the first one, because others were faster or the store
   *     did not answer
   * @param took from the first try to the end of the last one, the pauses between them included
   */
  void ended(DocumentKey key, int retries, Duration took);
}
