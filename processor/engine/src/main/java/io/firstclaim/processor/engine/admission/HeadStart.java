package io.firstclaim.processor.engine.admission;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How long a zone is let go first with the records that prefer it: as long as was set or, if
 * nothing was, as long as that zone is seen to need for a record, from its arrival here to hearing
 * of its end. That is estimated as TCP estimates when an answer is overdue, by the mean and four
 * mean deviations, with a second to begin with (RFC 6298). Thread-safe.
 */
final class HeadStart {
  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration LEAST = Duration.ofMillis(100);

  private final Optional<Duration> set;
  private final Duration longest;
  private final Map<String, Need> needs = new ConcurrentHashMap<>();

  /** The time that a zone needs, in nanoseconds. */
  private record Need(double mean, double deviation) {
    Need and(double sample) {
      return new Need(
          mean + (sample - mean) / 8, deviation + (Math.abs(sample - mean) - deviation) / 4);
    }

    Duration most() {
      return Duration.ofNanos((long) (mean + 4 * deviation));
    }
  }

  /**
   * A head start.
   *
   * @param set what it always is; if empty, it follows what the zone needs
   * @param longest the most it becomes by that
   */
  HeadStart(Optional<Duration> set, Duration longest) {
    this.set = set;
    this.longest = longest;
  }

  /** The head start of this zone. */
  Duration of(String zone) {
    if (set.isPresent()) {
      return set.get();
    }
    Need need = needs.get(zone);
    Duration wanted = need == null ? FIRST : need.most();
    return shorter(wanted.compareTo(LEAST) < 0 ? LEAST : wanted, longest);
  }

  /** A record of this zone's was heard to have ended so long after its arrival. */
  void needed(String zone, Duration time) {
    double sample = shorter(time, longest).toNanos();
    needs.merge(zone, new Need(sample, sample / 2), (known, _) -> known.and(sample));
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
