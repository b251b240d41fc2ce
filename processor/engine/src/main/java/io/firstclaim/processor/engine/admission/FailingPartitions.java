package io.firstclaim.processor.engine.admission;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Which partitions fail. Guarded by the breaker, but for {@link #haveNoSay}. */
final class FailingPartitions {
  /**
   * Partitions that have failed since one of their records, or as many in a row as count, last
   * passed.
   */
  private final Set<Object> failing = new HashSet<>();

  /**
   * Partitions that failed while others passed: their failures are their own, and say nothing of
   * the rest.
   */
  private final Set<Object> withoutSay = ConcurrentHashMap.newKeySet();

  boolean contain(Object partition) {
    return failing.contains(partition);
  }

  boolean haveNoSay(Object partition) {
    return withoutSay.contains(partition);
  }

  void add(Object partition) {
    failing.add(partition);
  }

  void passed(Object partition) {
    failing.remove(partition);
    withoutSay.remove(partition);
  }

  void allPass() {
    failing.clear();
  }

  /** A record of another partition has passed. */
  void othersPass() {
    withoutSay.addAll(failing);
    failing.clear();
  }
}
