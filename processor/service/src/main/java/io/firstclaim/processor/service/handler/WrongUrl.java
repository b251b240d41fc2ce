package io.firstclaim.processor.service.handler;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Whether it may be the URL that is wrong where the answer is that there is nothing at this place.
 * It may until the first record is done. Once so many different records have had that answer, it is
 * taken for wrong until one is done; with fewer, each is held back for a while and then taken to be
 * at fault itself, or a lone bad record would be tried for ever. Thread-safe.
 */
final class WrongUrl {
  /** How many different records it takes for the URL to be taken for wrong. */
  static final int RECORDS = 20;

  /** How long a record is held back while that is undecided. */
  static final Duration HELD_BACK = Duration.ofMinutes(5);

  private final TimeSource time;

  /** The records that had that answer, and since when; no more than it takes to decide. */
  private final Map<RecordId, Moment> heldBack = new HashMap<>();

  private volatile boolean isRight;

  /** A URL of which nothing is known. */
  WrongUrl(TimeSource time) {
    this.time = time;
  }

  /** A record is done, so the URL is right from now on. */
  void done() {
    if (!isRight) {
      synchronized (this) {
        isRight = true;
        heldBack.clear();
      }
    }
  }

  /** Whether this record, which found nothing there, is held back as the URL may be wrong. */
  synchronized boolean holdsBack(RecordId id) {
    if (isRight) {
      return false;
    }
    Moment now = time.now();
    if (heldBack.size() < RECORDS) {
      heldBack.putIfAbsent(id, now);
    }
    Moment since = heldBack.getOrDefault(id, now);
    return heldBack.size() >= RECORDS || now.since(since).compareTo(HELD_BACK) < 0;
  }
}
