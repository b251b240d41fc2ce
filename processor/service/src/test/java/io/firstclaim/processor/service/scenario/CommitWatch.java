package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.service.scenario.Outcomes.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Looks again and again at what a group has committed, to hold it against what was settled when.
 */
final class CommitWatch implements AutoCloseable {
  private static final Duration BETWEEN = Duration.ofMillis(50);

  /** What was committed at this time at the latest. */
  private record Look(Instant at, Map<Integer, Long> committed) {}

  private final Scenario scenario;
  private final Zone zone;
  private final Queue<Look> looks = new ConcurrentLinkedQueue<>();
  private final Repeated watching;

  CommitWatch(Scenario scenario, Zone zone) {
    this.scenario = scenario;
    this.zone = zone;
    this.watching = new Repeated(BETWEEN, this::look);
  }

  private void look() {
    Map<Integer, Long> committed = scenario.committed(zone);
    looks.add(new Look(Instant.now(), committed));
  }

  @Override
  public void close() {
    watching.close();
  }

  /**
   * Fails if ever an offset was committed while a record before it had not been ended; or if the
   * watch saw nothing that could have shown it.
   *
   * @param places where all records are
   * @param endings how each ended, by ID
   */
  void requireNeverAhead(List<Feed.Place> places, Map<String, Outcome> endings) {
    Map<Integer, NavigableMap<Long, Instant>> settledUpTo = settledUpTo(places, endings);
    int telling = 0;
    for (Look look : looks) {
      for (Map.Entry<Integer, Long> committed : look.committed.entrySet()) {
        NavigableMap<Long, Instant> settled =
            settledUpTo.getOrDefault(committed.getKey(), new TreeMap<>());
        Map.Entry<Long, Instant> last = settled.lowerEntry(committed.getValue());
        if (last != null) {
          assertThat(last.getValue())
              .as(
                  "all before offset %d of partition %d ended",
                  committed.getValue(), committed.getKey())
              .isBeforeOrEqualTo(look.at);
        }
        Map.Entry<Long, Instant> next = settled.ceilingEntry(committed.getValue());
        if (next != null && next.getValue().isAfter(look.at)) {
          telling++;
        }
      }
    }
    assertThat(telling).as("looks at a partition with open records").isGreaterThan(20);
  }

  /** When all records of a partition up to an offset, itself included, had been ended. */
  private static Map<Integer, NavigableMap<Long, Instant>> settledUpTo(
      List<Feed.Place> places, Map<String, Outcome> endings) {
    Map<Integer, NavigableMap<Long, Instant>> settled = new HashMap<>();
    for (Feed.Place place : places) {
      Outcome ending = endings.get(place.id());
      settled
          .computeIfAbsent(place.partition(), _ -> new TreeMap<>())
          .put(place.offset(), ending == null ? Instant.MAX : ending.at());
    }
    for (NavigableMap<Long, Instant> partition : settled.values()) {
      Instant latest = Instant.MIN;
      for (Map.Entry<Long, Instant> entry : partition.entrySet()) {
        latest = entry.getValue().isAfter(latest) ? entry.getValue() : latest;
        entry.setValue(latest);
      }
    }
    return settled;
  }
}
