package io.firstclaim.listener;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;

/**
 * What all listeners of an application share. Thread-safe.
 *
 * @param deduplicator tries a listener as often as the settings say
 * @param giveUp gives up at its first attempt
 * @param letters what is given up goes there
 * @param time the application's
 */
public record Deduplication(
    Deduplicator deduplicator, Deduplicator giveUp, DeadLetters letters, TimeSource time) {

  /** What listeners share that go by this deduplicator, which rests on this store. */
  public static Deduplication of(
      Deduplicator deduplicator, ClaimStore store, DeadLetters letters, TimeSource time) {
    RetryPolicy once = new RetryPolicy(1, deduplicator.retry().backoff());
    return new Deduplication(
        deduplicator, Deduplicator.builder(store, time).retry(once).build(), letters, time);
  }
}
