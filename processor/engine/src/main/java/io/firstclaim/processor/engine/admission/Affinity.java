package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Gives every record a preferred zone, which the others let go first. It is only a courtesy:
 * whichever zone claims first still wins. Thread-safe.
 */
public final class Affinity {
  private final String zone;
  private final List<String> zones;
  private final HeadStart headStart;
  private final Duration patience;
  private final Duration longest;
  private final Function<String, @Nullable Instant> lastSign;
  private final TimeSource time;
  private final Instant start;

  /**
   * The preferences of this zone.
   *
   * @param zones all zones; if empty, no record has a preferred one
   * @param headStart how long the preferred zone is let go first; if empty, as long as it is seen
   *     to need, at most a third of the patience
   * @param patience how long a zone may show no sign of life before nobody waits for it: a lease
   * @param lastSign when a zone last gave a sign of life
   */
  public Affinity(
      String zone,
      List<String> zones,
      Optional<Duration> headStart,
      Duration patience,
      Function<String, @Nullable Instant> lastSign,
      TimeSource time) {
    this.zone = zone;
    this.zones = zones.stream().sorted().toList();
    this.longest = patience.dividedBy(3);
    this.headStart = new HeadStart(headStart, longest);
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
    String preferred = preferred(grouping);
    return preferred.equals(zone) || !lives(preferred) ? Duration.ZERO : headStart.of(preferred);
  }

  /**
   * A record has ended elsewhere, or in this zone without this instance.
   *
   * @param grouping as for {@link #headStartOfOthers}
   * @param needed how long after its arrival here that was heard
   */
  public void ended(byte[] grouping, Duration needed) {
    if (!zones.isEmpty()) {
      headStart.needed(preferred(grouping), needed);
    }
  }

  /**
   * The head start that the preferred zone of this record has here, counted from its arrival.
   *
   * @param handsFull whether this instance could not begin with it soon anyway
   */
  Courtesy courtesy(Candidate record, BooleanSupplier handsFull) {
    return new Courtesy(record, handsFull);
  }

  /**
   * Leaves one record to its preferred zone for a while. While this instance's own hands are full,
   * it leaves the record alone for longer: claiming what it cannot start soon would cost a request
   * and gain nothing.
   */
  final class Courtesy implements Checkpoint {
    private final Candidate record;
    private final BooleanSupplier handsFull;
    private Duration until = Duration.ZERO;
    private boolean begun;
    private boolean over;

    private Courtesy(Candidate record, BooleanSupplier handsFull) {
      this.record = record;
      this.handsFull = handsFull;
    }

    @Override
    public @Nullable Duration pass() {
      if (!begun) {
        begun = true;
        until = headStartOfOthers(record.grouping());
      }
      while (!over && until.isPositive()) {
        Duration left = until.minus(time.now().since(record.arrival()));
        if (left.isPositive()) {
          return left;
        }
        Duration needed = headStartOfOthers(record.grouping());
        if (needed.compareTo(until) > 0) {
          until = needed; // the preferred zone was seen meanwhile to need more
        } else if (handsFull.getAsBoolean() && until.compareTo(longest) <= 0) {
          until = until.multipliedBy(2);
        } else {
          over = true;
        }
      }
      over = true;
      return null;
    }

    /** The preferred zone has let the record go. */
    @Override
    public void woken() {
      over = true;
    }

    /** Gives nothing back: a head start is given once. */
    @Override
    public void leave() {}
  }

  private String preferred(byte[] grouping) {
    return zones.get(Integer.remainderUnsigned(hash(grouping), zones.size()));
  }

  /**
   * Kafka chooses partitions by the plain murmur2 of the key, which may well be the ID: without
   * this mixing, all records of a partition would prefer one zone. The steps are murmur3's last
   * ones.
   */
  private static int hash(byte[] grouping) {
    int hash = Utils.murmur2(grouping);
    hash ^= hash >>> 16;
    hash *= 0x85ebca6b;
    hash ^= hash >>> 13;
    hash *= 0xc2b2ae35;
    return hash ^ hash >>> 16;
  }

  /**
   * A zone is presumed alive until it has been silent for a lease, counted from this one's start at
   * the earliest.
   */
  private boolean lives(String other) {
    Instant sign = lastSign.apply(other);
    Instant heard = sign == null || sign.isBefore(start) ? start : sign;
    return Duration.between(heard, time.now().wall()).compareTo(patience) < 0;
  }
}
