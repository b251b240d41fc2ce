package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.keeper.LeaseKeeper;
import java.time.Duration;
import java.util.function.IntSupplier;

/**
 * How many reads and writes may be under way at once, by how the store takes them. Not thread-safe.
 *
 * <p>It begins with a few and doubles with every round of answers, like TCP's slow start (RFC
 * 5681), up to where the store last failed or slowed down; from there it grows by the square root
 * and shrinks as answers take longer than usual, by the gradient of <a
 * href="https://github.com/Netflix/concurrency-limits/blob/main/concurrency-limits-core/src/main/java/com/netflix/concurrency/limits/limit/Gradient2Limit.java">Netflix's
 * concurrency limits</a>. What is usual is learnt while few requests are under way: otherwise a
 * queue of one's own making would become the usual.
 */
final class Pace {
  static final int LEAST = 4;

  /** How much longer than usual an answer may take before there are fewer requests. */
  private static final double TOLERANCE = 2;

  /**
   * An answer within this time is never slow, whatever is usual: below it, it is this machine that
   * takes the time.
   */
  private static final double FAST = Duration.ofMillis(10).toNanos();

  /**
   * Nor is an answer slow within this part of the longest time: no lease is in danger, and a queue
   * keeps the store busy.
   */
  private static final double HARMLESS = 0.01;

  /** How much a new measure weighs, against all before it. */
  private static final double LATENCY_WEIGHT = 1.0 / 8;

  private static final double USUAL_WEIGHT = 1.0 / 4;

  private final double longest;
  private final IntSupplier most;
  private double limit = LEAST;

  /** While the limit is below this, it doubles with every round. */
  private double threshold = Double.MAX_VALUE;

  /** How long an answer takes lately, in nanoseconds; zero before the first one. */
  private double latency;

  private double usual;

  // The round under way, which has as many answers as the limit was when it began.
  private int roundSize = LEAST;
  private int answers;
  private double total;
  private int mostAtOnce;

  /**
   * A slow start.
   *
   * @param longest answers that take longer are too slow, usual or not
   * @param most at once: what the store makes the most of now
   */
  Pace(Duration longest, IntSupplier most) {
    this.longest = longest.toNanos();
    this.most = () -> Math.max(1, most.getAsInt());
  }

  int limit() {
    return (int) Math.min(limit, most.getAsInt());
  }

  /** How long it takes to renew this many leases, as fast as store and keeper do it. */
  Duration toRenew(int leases) {
    int atOnce = Math.min(limit(), LeaseKeeper.RENEWALS_AT_ONCE);
    return Duration.ofNanos((long) (latency * Math.max(1, (double) leases / atOnce)));
  }

  /** One request was answered, when so many were under way. */
  void answered(Duration took, int atOnce) {
    double nanos = took.toNanos();
    latency += latency == 0 ? nanos : (nanos - latency) * LATENCY_WEIGHT;
    total += nanos;
    answers++;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    if (limit < threshold && isUsed(atOnce) && (usual == 0 || nanos <= tooSlow())) {
      limit = Math.min(Math.min(threshold, most.getAsInt()), limit + 1);
    }
    if (answers >= Math.min(roundSize, limit())) {
      endRound(total / answers);
    }
  }

  private void endRound(double average) {
    limit = Math.min(limit, most.getAsInt()); // the store may make the most of fewer than before
    if (usual == 0) {
      usual = average;
    } else if (average < usual || mostAtOnce <= 2 * LEAST) {
      usual += (average - usual) * USUAL_WEIGHT;
    }
    double gradient = tooSlow() / average;
    if (gradient < 1) {
      limit = Math.max(LEAST, limit * Math.max(0.5, gradient));
      threshold = limit;
    } else if (limit >= threshold && isUsed(mostAtOnce)) {
      limit = Math.min(most.getAsInt(), limit + Math.sqrt(limit));
    }
    beginRound();
  }

  /**
   * Where answers usually take a large part of what they may, half of the rest is left for the next
   * round: with twice as many requests they may take twice as much longer than usual.
   */
  private double tooSlow() {
    double usually = Math.max(TOLERANCE * usual, Math.max(FAST, HARMLESS * longest));
    return Math.min(usually, usual < longest ? (usual + longest) / 2 : longest);
  }

  private void beginRound() {
    roundSize = limit();
    answers = 0;
    total = 0;
    mostAtOnce = 0;
  }

  /** Whether there were enough requests to show that the store can take more. */
  private boolean isUsed(int atOnce) {
    return atOnce * 2 >= limit();
  }

  /** The store gave no answer. */
  void failed() {
    threshold = Math.max(LEAST, limit() / 2.0);
    limit = LEAST;
    beginRound();
  }
}
