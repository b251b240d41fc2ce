package io.firstclaim.lock.dynamodb;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Guesses whether a claim is the first on its record, which an {@code INSERT} can write; any other
 * is better sent alone, as an {@code INSERT} that fails is billed and says nothing of what is
 * there. It goes by the records that were lately found or released here, and by the share of claims
 * on others that came too late. A wrong guess costs a request and no more. Thread-safe.
 */
final class FirstClaims {
  /**
   * A common request costs itself and a read for each claim in it that comes too late: with two in
   * it, no more than single ones do as long as half of them come in time; with more in it, less.
   */
  private static final double MOST_TOO_LATE = 0.5;

  /** The weight of the latest claim in the average. */
  private static final double WEIGHT = 1.0 / 64;

  private static final int REMEMBERED = 1 << 13;

  /** Hashes of their keys, each in a place that depends on it; the later one stays. */
  private final AtomicIntegerArray known = new AtomicIntegerArray(REMEMBERED);

  private volatile double tooLate;

  /** Whether a claim on this key is likely to be the first. */
  boolean isLikely(String key) {
    return tooLate <= MOST_TOO_LATE && !isKnown(key);
  }

  private boolean isKnown(String key) {
    int hash = key.hashCode();
    return known.get(place(hash)) == hash;
  }

  /** Something is stored under this key. */
  void found(String key) {
    int hash = key.hashCode();
    known.set(place(hash), hash);
  }

  /** A claim was answered. */
  synchronized void answered(String key, boolean first) {
    if (!isKnown(key)) {
      tooLate += ((first ? 0 : 1) - tooLate) * WEIGHT;
    }
    if (!first) {
      found(key);
    }
  }

  private static int place(int hash) {
    return hash & (REMEMBERED - 1);
  }
}
