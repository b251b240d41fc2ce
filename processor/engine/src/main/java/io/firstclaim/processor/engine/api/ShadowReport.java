package io.firstclaim.processor.engine.api;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What an instance in shadow mode has found out since its start. Of a zone, whose instances
 * together get every record, add the counts up: each zone by itself tells the whole story.
 *
 * @param counts of deliveries, by what was found; all findings are there
 * @param longestLag the longest time between the timestamps of a duplicate and of the record that
 *     it is one of; zero if there was none. Claims must be remembered for longer
 * @param samples the first duplicates, mismatches and records without an ID, up to 20 of each
 */
public record ShadowReport(
    Map<ShadowFinding, Long> counts, Duration longestLag, List<ShadowSample> samples) {
  /** Keeps copies. */
  public ShadowReport {
    counts = Map.copyOf(counts);
    samples = List.copyOf(samples);
  }
}
