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
 * never "free": for what it does not know, ask the lock store. Of two ends of one record, the one
 * with the higher token counts: the other is from before a redrive. Thread-safe.
 */
public final class KnownDone {
  private record Key(RecordId id, Fingerprint fingerprint) {}

  /**
   * A record that ended, or that was seen to live again.
   *
   * @param ended if not, what ended it with a lower token than this is past
   * @param token of the lease under which it ended, or lives
   * @param at when, as was announced
   * @param until the ticks of the moment from which on it counts no more
   */
  private record Entry(Key key, boolean ended, long token, Instant at, long until) {
    /** About what it takes in memory: in the map, in the queue, and the ID, which may be long. */
    int bytes() {
      return WITHOUT_ID + key.id.length();
    }

    boolean counts(Moment now) {
      return now.ticks() - until < 0;
    }

    /** Whether it says no less than that one: under one lease a record lives, then ends. */
    boolean prevails(Entry other) {
      return token > other.token || (token == other.token && (ended || !other.ended));
    }
  }

  private static final int WITHOUT_ID = 256;

  private final int capacity;
  private final long maxBytes;
  private final Duration retention;
  private final TimeSource time;
  private final Map<Key, Entry> known = new ConcurrentHashMap<>();
  private final Deque<Entry> byAge = new ArrayDeque<>();
  private long bytes; // guarded by byAge
  private volatile Instant horizon;

  /**
   * Remembers the last {@code capacity} records that end from now on, or fewer if they take more
   * than {@code maxBytes}, each for the retention.
   */
  public KnownDone(int capacity, long maxBytes, Duration retention, TimeSource time) {
    this.capacity = capacity;
    this.maxBytes = maxBytes;
    this.retention = retention;
    this.time = time;
    this.horizon = time.now().wall();
  }

  /**
   * The end of this record was announced. One older than the retention is not remembered.
   *
   * @param token of the lease under which it ended
   * @param at when it ended; in the future, by a clock that is ahead, it counts as now
   * @return false if that was known already, or is past
   */
  public boolean add(RecordId id, Fingerprint fingerprint, long token, Instant at) {
    return remember(new Key(id, fingerprint), true, token, at);
  }

  /**
   * The store says that this record lives, under a lease with this token: an end with a lower one
   * is past, whenever it is heard of.
   */
  public void lives(RecordId id, Fingerprint fingerprint, long token) {
    boolean _ = remember(new Key(id, fingerprint), false, token, time.now().wall());
  }

  private boolean remember(Key key, boolean ended, long token, Instant at) {
    Moment now = time.now();
    Duration age = Duration.between(at, now.wall());
    Duration left = age.isNegative() ? retention : retention.minus(age);
    if (!left.isPositive()) {
      return true; // nothing to remember, however long ago it ended: the message may give any time
    }
    Entry entry = new Entry(key, ended, token, at, now.ticks() + left.toNanos());
    synchronized (byAge) {
      Entry before = known.get(entry.key);
      if (before != null && before.counts(now) && before.prevails(entry)) {
        return false;
      }
      known.put(entry.key, entry);
      byAge.addLast(entry);
      bytes += entry.bytes();
      while (!byAge.isEmpty() && (isFull() || !byAge.getFirst().counts(now))) {
        Entry oldest = byAge.removeFirst();
        bytes -= oldest.bytes();
        forget(oldest);
      }
    }
    return true;
  }

  private boolean isFull() {
    return byAge.size() > capacity || bytes > maxBytes;
  }

  private void forget(Entry entry) {
    if (known.remove(entry.key, entry) && entry.ended && entry.at.isAfter(horizon)) {
      horizon = entry.at;
    }
  }

  /** Whether the end of this record, with this payload, was announced within the retention. */
  public boolean contains(RecordId id, Fingerprint fingerprint) {
    return contains(id, fingerprint, Long.MIN_VALUE);
  }

  /** Whether such an end was announced, under a lease with this token or with a higher one. */
  public boolean contains(RecordId id, Fingerprint fingerprint, long token) {
    Entry entry = known.get(new Key(id, fingerprint));
    return entry != null && entry.ended && entry.token >= token && entry.counts(time.now());
  }

  /** The time since which every announcement is known. */
  public Instant horizon() {
    return horizon;
  }

  /** The past before this time is not known. */
  public void startAt(Instant start) {
    horizon = start;
  }
}
