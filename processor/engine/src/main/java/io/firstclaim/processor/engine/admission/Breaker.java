package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.TimeSource;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps records from being tried in vain while the downstream, to which their handler takes them,
 * is not there. Closed, it lets every record pass. Open, it lets one try now and then until one
 * passes: the partitions take turns, and of each the one that has waited longest tries.
 *
 * <p>It opens when a record is refused and most of the last 20 results were failures too, or nobody
 * has passed since the same record was refused before. And it opens when nine in ten of the last 20
 * attempts failed in whatever way, where a record has a say of two: a few records that fail again
 * and again are poison, but if nearly all do, what they have in common is the downstream. Or their
 * partition, as Kafka delivers many of one partition at a time: so after that, the first record of
 * each partition that has not failed may try at once, and if it passes, the partitions that have
 * failed have no say until one of theirs passes.
 *
 * <p>A failure is held against its record only where others pass. Thread-safe.
 */
public final class Breaker {
  /** How many of the last results are judged by. */
  static final int RECENT = 20;

  static final Logger LOG = LoggerFactory.getLogger(Breaker.class);
  private static final float NEARLY_ALL = 90;
  private static final int SAY = 2;

  /** How often a record is refused while others pass until that counts as its own failure. */
  private static final int REFUSALS = 3;

  /** The pauses from one record that tries to the next. */
  private static final Backoff PAUSES = new Backoff(Duration.ofMillis(500), Duration.ofSeconds(10));

  // What the states share, guarded by this.
  final TimeSource time;
  final CircuitBreaker circuit;
  final FailingPartitions failing = new FailingPartitions();
  final OncePerMinute loud;

  private final AtomicLong passes = new AtomicLong();
  volatile BreakerState state = new ClosedBreaker(this);

  /** How the downstream took one record. */
  enum Result {
    PASSED,
    FAILED
  }

  /** A closed breaker. */
  public Breaker(TimeSource time) {
    this.time = time;
    this.loud = new OncePerMinute(time);
    InstantSource ticks = () -> Instant.EPOCH.plusNanos(time.now().ticks());
    circuit =
        CircuitBreaker.of(
            "downstream",
            CircuitBreakerConfig.custom()
                .slidingWindowType(SlidingWindowType.COUNT_BASED)
                .slidingWindowSize(RECENT)
                .minimumNumberOfCalls(RECENT)
                .failureRateThreshold(NEARLY_ALL)
                .recordResult(result -> result == Result.FAILED)
                .permittedNumberOfCallsInHalfOpenState(1)
                .waitIntervalFunctionInOpenState(openings -> PAUSES.after(openings).toMillis())
                .clock(ticks.withZone(ZoneOffset.UTC))
                .build());
  }

  /** Why the breaker is open; null if it is closed. */
  public @Nullable String fault() {
    return state.fault();
  }

  /** The way of one record through the breaker. */
  Trial trial(Candidate record) {
    return new Trial(record);
  }

  /** One record, as often as it is tried. For one thread at a time, but {@link #leave()}. */
  public final class Trial implements Checkpoint {
    final Candidate record;
    final Object partition;
    private long passesWhenRefused = -1;
    private int refusals;
    private int said;

    /** Whether it was let through while the breaker was open. */
    volatile boolean lone;

    /** Whether it has waited since it last left, and so may be among those that wait. */
    private volatile boolean waited;

    private Trial(Candidate record) {
      this.record = record;
      this.partition = record.partition();
    }

    /** Passes, if the record may be tried now. If not, it is called in its turn. */
    @Override
    public @Nullable Duration pass() {
      if (!waited && isClosed()) {
        return null;
      }
      synchronized (Breaker.this) {
        boolean admitted = state.admits(this);
        lone = admitted && !isClosed();
        waited |= !admitted;
        return admitted ? null : LONG;
      }
    }

    /** Whether the breaker has opened since this record was let through. */
    public boolean isCalledOff() {
      return !lone && !isClosed();
    }

    /** The downstream had the record, and said what became of it. */
    public void passed() {
      passes.incrementAndGet();
      if (!lone
          && state instanceof ClosedBreaker closed
          && closed.expectsPasses()
          && !failing.haveNoSay(partition)) {
        return;
      }
      synchronized (Breaker.this) {
        failing.passed(partition);
        state.passed(this);
      }
    }

    /**
     * The downstream was not there for the record.
     *
     * @return whether that is the record's own failure
     */
    public boolean refused(String cause) {
      synchronized (Breaker.this) {
        long passed = passes.get();
        boolean nobodyPassed = passesWhenRefused == passed;
        passesWhenRefused = passed;
        failedBecause(cause);
        if (state instanceof ClosedBreaker closed && (nobodyPassed || closed.mostFailed())) {
          closed.open(cause);
        }
        return isClosed() && ++refusals >= REFUSALS;
      }
    }

    /**
     * The attempt failed.
     *
     * @return whether that is the record's own failure
     */
    public boolean failed(String cause) {
      synchronized (Breaker.this) {
        if (lone || (said < SAY && !failing.haveNoSay(partition))) {
          said++;
          failedBecause(cause);
        }
        return isClosed();
      }
    }

    private void failedBecause(String cause) {
      failing.add(partition);
      state.failed(this, cause);
    }

    /** How often the record was refused while others passed. */
    public int refusals() {
      return refusals;
    }

    /** The record has been tried, or is not to be tried for now. */
    @Override
    public void leave() {
      if (!waited && !lone) {
        return;
      }
      synchronized (Breaker.this) {
        waited = false;
        lone = false;
        state.leaves(this);
      }
    }
  }

  private boolean isClosed() {
    return state instanceof ClosedBreaker;
  }
}
