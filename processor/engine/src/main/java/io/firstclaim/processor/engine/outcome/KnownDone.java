package io.firstclaim.processor.engine.outcome;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The records whose end was announced lately. One is forgotten when its claim's retention is over,
 * as the store forgets it too, or earlier if there are too many, the oldest first. Says "done",
 * never "free": for what it does not know, ask the lock store. Thread-safe.
 */
public final class KnownDone {
  private record Key(RecordId id, Fingerprint fingerprint) {}

  /**
   * A record that ended.
   *
   * @param at when, as was announced
   * @param until the ticks of the moment from which on it counts no more
   */
  private record Entry(Key key, Instant at, long until) {
    boolean counts(Moment now) {
      return now.ticks() - until < 0;
    }
  }

  private final int capacity;
  private final Duration retention;
  private final TimeSource time;
  private final Map<Key, Entry> known = new ConcurrentHashMap<>();
  private final Deque<Entry> byAge = new ArrayDeque<>();
  private volatile Instant horizon;

  /** Remembers the last {@code capacity} records that end from now on, each for the retention. */
  public KnownDone(int capacity, Duration retention, TimeSource time) {
    this.capacity = capacity;
    this.retention = retention;
    this.time = time;
    this.horizon = time.now().wall();
  }

  /**
   * The end of this record was announced. One older than the retention is not remembered.
   *
   * @param at when it ended; in the future, by a clock that is ahead, it counts as now
   * @return false if that was known already
   */
  public boolean add(RecordId id, Fingerprint fingerprint, Instant at) {
    Moment now = time.now();
    Duration age = Duration.between(at, now.wall());
    Duration left = age.isNegative() ? retention : retention.minus(age);
    Entry entry = new Entry(new Key(id, fingerprint), at, now.ticks() + left.toNanos());
    if (!entry.counts(now)) {
      return true;
    }
    synchronized (byAge) {
      Entry before = known.get(entry.key);
      if (before != null && before.counts(now)) {
        return false;
      }
      known.put(entry.key, entry);
      byAge.addLast(entry);
      while (byAge.size() > capacity || !byAge.getFirst().counts(now)) {
        forget(byAge.removeFirst());
      }
    }
    return true;
  }

  private void forget(Entry entry) {
    known.remove(entry.key, entry);
    if (entry.at.isAfter(horizon)) {
      horizon = entry.at;
    }
  }

  /** Whether the end of this record, with this payload, was announced within the retention. */
  public boolean contains(RecordId id, Fingerprint fingerprint) {
    Entry entry = known.get(new Key(id, fingerprint));
    return entry != null && entry.counts(time.now());
  }

  /** The time since which every announcement is known. */
  public Instant horizon() {
    return horizon;
  }

  /** What was announced before this is not known. */
  public void startAt(Instant start) {
    horizon = start;
  }
}
