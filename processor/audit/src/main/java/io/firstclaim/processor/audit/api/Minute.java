package io.firstclaim.processor.audit.api;

import java.time.Instant;

/**
 * What one zone did in one minute, as far as one instance's partitions tell; the rows of several
 * instances are {@linkplain #plus added}. An outcome that is published twice counts once. What was
 * suppressed as a duplicate is not published: {@code
 * firstclaim_deliveries_total{result="duplicate"}} of each instance counts it.
 *
 * @param start the minute's first moment, UTC
 * @param completed records completed
 * @param takeovers leases of others that were over and taken over
 * @param failures attempts that failed and are repeated
 * @param deadLetters records given up
 * @param mismatches records given up or skipped, as their ID is known with another payload
 * @param lost leases that were lost
 * @param latencies how long the handlers of the completed records ran
 */
public record Minute(
    String zone,
    Instant start,
    long completed,
    long takeovers,
    long failures,
    long deadLetters,
    long mismatches,
    long lost,
    Latencies latencies) {
  /** Nothing yet. */
  public static Minute empty(String zone, Instant start) {
    return new Minute(zone, start, 0, 0, 0, 0, 0, 0, Latencies.none());
  }

  /** Both together; zone and start are those of this one. */
  public Minute plus(Minute other) {
    return new Minute(
        zone,
        start,
        completed + other.completed,
        takeovers + other.takeovers,
        failures + other.failures,
        deadLetters + other.deadLetters,
        mismatches + other.mismatches,
        lost + other.lost,
        latencies.plus(other.latencies));
  }
}
