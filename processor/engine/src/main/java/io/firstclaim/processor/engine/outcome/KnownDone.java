package io.firstclaim.processor.engine.outcome;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The records whose end was announced lately; the oldest are forgotten first. Says "done", never
 * "free": for what it does not know, ask the lock store. Thread-safe.
 */
public final class KnownDone {
  private record Key(RecordId id, Fingerprint fingerprint) {}

  private record Entry(Key key, Instant at) {}

  private final int capacity;
  private final Set<Key> known = ConcurrentHashMap.newKeySet();
  private final Deque<Entry> byAge = new ArrayDeque<>();
  private volatile Instant horizon;

  /** Remembers the last {@code capacity} records that end after {@code horizon}. */
  public KnownDone(int capacity, Instant horizon) {
    this.capacity = capacity;
    this.horizon = horizon;
  }

  /**
   * The end of this record was announced.
   *
   * @return false if that was known already
   */
  public boolean add(RecordId id, Fingerprint fingerprint, Instant at) {
    Key key = new Key(id, fingerprint);
    if (!known.add(key)) {
      return false;
    }
    synchronized (byAge) {
      byAge.addLast(new Entry(key, at));
      if (byAge.size() > capacity) {
        Entry forgotten = byAge.removeFirst();
        known.remove(forgotten.key);
        if (forgotten.at.isAfter(horizon)) {
          horizon = forgotten.at;
        }
      }
    }
    return true;
  }

  /** Whether the end of this record, with this payload, was announced. */
  public boolean contains(RecordId id, Fingerprint fingerprint) {
    return known.contains(new Key(id, fingerprint));
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
