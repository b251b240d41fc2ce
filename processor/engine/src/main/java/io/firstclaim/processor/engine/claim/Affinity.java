package io.firstclaim.processor.engine.claim;

import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Gives every record a preferred zone, which the others let go first. Only a courtesy: whoever
 * claims first still wins. Thread-safe.
 */
public final class Affinity {
  private final String zone;
  private final List<String> zones;
  private final Duration headStart;
  private final Duration patience;
  private final Function<String, @Nullable Instant> lastSign;
  private final TimeSource time;
  private final Instant start;

  /**
   * The preferences of this zone.
   *
   * @param zones all zones; if empty, no record has a preferred one
   * @param headStart how long the preferred zone is let go first
   * @param patience after which a zone without a sign of life is not waited for
   * @param lastSign when a zone last gave a sign of life
   */
  public Affinity(
      String zone,
      List<String> zones,
      Duration headStart,
      Duration patience,
      Function<String, @Nullable Instant> lastSign,
      TimeSource time) {
    this.zone = zone;
    this.zones = zones.stream().sorted().toList();
    this.headStart = headStart;
    this.patience = patience;
    this.lastSign = lastSign;
    this.time = time;
    this.start = time.now().wall();
  }

  /**
   * How long this zone holds back.
   *
   * @param grouping what is kept together: the record's ID, or the key it is ordered by
   */
  public Duration headStartOfOthers(byte[] grouping) {
    if (zones.isEmpty()) {
      return Duration.ZERO;
    }
    String preferred = zones.get(Integer.remainderUnsigned(hash(grouping), zones.size()));
    return preferred.equals(zone) || !lives(preferred) ? Duration.ZERO : headStart;
  }

  /**
   * Kafka chooses partitions by the plain murmur2 of the key, which may well be the ID: without the
   * mixing, all records of one partition would prefer one zone. The steps are those that end
   * murmur3.
   */
  private static int hash(byte[] grouping) {
    int hash = Utils.murmur2(grouping);
    hash ^= hash >>> 16;
    hash *= 0x85ebca6b;
    hash ^= hash >>> 13;
    hash *= 0xc2b2ae35;
    return hash ^ hash >>> 16;
  }

  /** A zone is taken to live until it has been silent, since this one's start, for a lease. */
  private boolean lives(String other) {
    Instant sign = lastSign.apply(other);
    Instant heard = sign == null || sign.isBefore(start) ? start : sign;
    return Duration.between(heard, time.now().wall()).compareTo(patience) < 0;
  }
}
