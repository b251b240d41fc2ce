package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
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
  private static final int RECENT = 20;
  private static final float NEARLY_ALL = 90;
  private static final int SAY = 2;

  /** So often a record is refused while others pass before that counts as its own failure. */
  private static final int REFUSALS = 3;

  /** Between two that try. */
  private static final Backoff PAUSES = new Backoff(Duration.ofMillis(500), Duration.ofSeconds(10));

  /** As long as the one that tries gets no answer, so often another one may. */
  private static final Duration ANOTHER_TRIES = Duration.ofSeconds(10);

  private static final Duration CALL_EVERY = Duration.ofMillis(100);
  private static final Duration LOUD_EVERY = Duration.ofMinutes(1);
  private static final Logger LOG = LoggerFactory.getLogger(Breaker.class);

  private final TimeSource time;
  private final CircuitBreaker circuit;
  private final ReentrantLock lock = new ReentrantLock();

  private final AtomicLong passes = new AtomicLong();

  /** Partitions that have failed since they, or as many records as count, last passed. */
  private final Set<Object> failing = new HashSet<>();

  /** Partitions that failed while others passed: it is theirs, and says nothing of the rest. */
  private volatile Set<Object> discounted = Set.of();

  private volatile State state = new Closed();
  private @Nullable Moment lastLoud;

  private enum Result {
    PASSED,
    FAILED
  }

  /** A closed breaker. */
  public Breaker(TimeSource time) {
    this.time = time;
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
    return switch (state) {
      case Closed _ -> null;
      case Open open -> open.cause;
    };
  }

  /** The way of one record through the breaker. */
  Trial trial(Candidate record) {
    return new Trial(record);
  }

  /** What the breaker does with records. What it knows, it knows only while it is so. */
  private sealed interface State {}

  /** Every record passes, and tells how it went. */
  private final class Closed implements State {
    private int passesInARow;
    private String lastFailure = "";

    /** Whether the last ones all passed, so that another pass is no news. */
    private volatile boolean allPass;

    void passed(Trial trial) {
      allPass = ++passesInARow >= RECENT;
      if (allPass) {
        failing.clear();
      }
      tell(Result.PASSED);
      if (state != this) {
        failing.add(trial.partition); // so nearly all of its own have failed
      }
    }

    void failed(String cause) {
      lastFailure = cause;
      passesInARow = 0;
      allPass = false;
      tell(Result.FAILED);
    }

    /** Either result may be the one that makes them enough to judge by. */
    private void tell(Result result) {
      circuit.onResult(0, TimeUnit.NANOSECONDS, result);
      if (circuit.getState() != CircuitBreaker.State.CLOSED) {
        state = new Open(true, lastFailure);
      }
    }

    boolean mostFailed() {
      CircuitBreaker.Metrics recent = circuit.getMetrics();
      return 2 * recent.getNumberOfFailedCalls() > recent.getNumberOfBufferedCalls();
    }

    void open(String cause) {
      circuit.transitionToOpenState();
      state = new Open(false, cause);
    }
  }

  /** Records wait, and one tries now and then. */
  private final class Open implements State {
    private final boolean asNearlyAllFail;
    private final boolean isLoud;

    /** By partition: the first record of the first one tries next. */
    private final SequencedMap<Object, SequencedSet<Trial>> waiting = new LinkedHashMap<>();

    private volatile String cause;
    private @Nullable Trial trying;
    private Moment triesSince = time.now();
    private boolean calls;

    Open(boolean asNearlyAllFail, String cause) {
      this.asNearlyAllFail = asNearlyAllFail;
      this.cause = cause;
      Moment now = time.now();
      this.isLoud = lastLoud == null || now.since(lastLoud).compareTo(LOUD_EVERY) > 0;
      if (isLoud) {
        lastLoud = now;
        LOG.warn(
            "{}; records wait, and one tries now and then: {}",
            asNearlyAllFail ? "Nearly every record fails" : "The downstream is not there",
            cause);
      }
    }

    /** Whether this record is the next to try; if not, it is called when it is. */
    boolean admits(Trial trial) {
      if (trying != null && time.now().since(triesSince).compareTo(ANOTHER_TRIES) > 0) {
        letAnotherTry();
      }
      if (!bringsNews(trial) && !(isNext(trial) && circuit.tryAcquirePermission())) {
        waiting.computeIfAbsent(trial.partition, _ -> new LinkedHashSet<>()).add(trial);
        callInTurn();
        return false;
      }
      stopsWaiting(trial);
      // Those of its partition that wait are behind those of all others now.
      SequencedSet<Trial> others = waiting.get(trial.partition);
      if (others != null) {
        waiting.putLast(trial.partition, others);
      }
      trying = trial;
      triesSince = time.now();
      return true;
    }

    /** Whether it would tell if the downstream is away, or only for the partitions that failed. */
    private boolean bringsNews(Trial trial) {
      return asNearlyAllFail && trying == null && !failing.contains(trial.partition);
    }

    private boolean isNext(Trial trial) {
      return waiting.isEmpty() || next() == trial;
    }

    private Trial next() {
      return waiting.firstEntry().getValue().getFirst();
    }

    void leaves(Trial trial) {
      stopsWaiting(trial);
      if (trying == trial) {
        letAnotherTry();
      }
    }

    private void stopsWaiting(Trial trial) {
      SequencedSet<Trial> others = waiting.get(trial.partition);
      if (others != null && others.remove(trial) && others.isEmpty()) {
        waiting.remove(trial.partition);
      }
    }

    private void letAnotherTry() {
      trying = null;
      circuit.releasePermission();
    }

    /** Only the one that tries has a say. */
    void failed(Trial trial, String why) {
      if (trying == trial) {
        trying = null;
        cause = why;
        circuit.onResult(0, TimeUnit.NANOSECONDS, Result.FAILED);
      }
    }

    /** The one that tried has passed. */
    Closed close() {
      circuit.transitionToClosedState();
      if (asNearlyAllFail && !failing.isEmpty()) {
        Set<Object> theirOwn = new HashSet<>(discounted);
        theirOwn.addAll(failing);
        discounted = Set.copyOf(theirOwn);
        failing.clear();
      }
      Closed closed = new Closed();
      state = closed;
      waiting.values().forEach(trials -> trials.forEach(trial -> trial.record.call()));
      waiting.clear();
      if (isLoud) {
        LOG.info("The downstream is there again");
      }
      return closed;
    }

    private void callInTurn() {
      if (!calls) {
        calls = true;
        Thread.ofVirtual().name("firstclaim-breaker").start(this::callWhileTheyWait);
      }
    }

    private void callWhileTheyWait() {
      while (callNext()) {
        try {
          Thread.sleep(CALL_EVERY);
        } catch (InterruptedException e) {
          // nobody interrupts this thread
        }
      }
    }

    private boolean callNext() {
      lock.lock();
      try {
        calls = !waiting.isEmpty();
        if (calls) {
          next().record.call();
        }
        return calls;
      } finally {
        lock.unlock();
      }
    }
  }

  /** One record, as often as it is tried. For one thread at a time, but {@link #leave()}. */
  public final class Trial implements Checkpoint {
    private final Candidate record;
    private final Object partition;
    private long passesWhenRefused = -1;
    private int refusals;
    private int said;

    /** Whether it was let through while the breaker was open. */
    private volatile boolean lone;

    /** Whether it has waited since it last left, and so may be among those that wait. */
    private volatile boolean waited;

    private Trial(Candidate record) {
      this.record = record;
      this.partition = record.partition();
    }

    /** Passes, if the record may be tried now. If not, it is called in its turn. */
    @Override
    public @Nullable Duration pass() {
      if (!waited && state instanceof Closed) {
        return null;
      }
      lock.lock();
      try {
        lone = state instanceof Open open && open.admits(this);
        waited |= !lone && state instanceof Open;
        return lone || state instanceof Closed ? null : LONG;
      } finally {
        lock.unlock();
      }
    }

    /** Whether the breaker has opened since this record was let through. */
    public boolean isCalledOff() {
      return !lone && state instanceof Open;
    }

    /** The downstream had the record, and said what became of it. */
    public void passed() {
      passes.incrementAndGet();
      if (!lone
          && state instanceof Closed closed
          && closed.allPass
          && !discounted.contains(partition)) {
        return;
      }
      lock.lock();
      try {
        failing.remove(partition);
        State now = state instanceof Open open && lone ? open.close() : state;
        if (discounted.contains(partition)) {
          discounted = without(discounted, partition);
        }
        if (now instanceof Closed closed) {
          closed.passed(this);
        }
      } finally {
        lock.unlock();
      }
    }

    /**
     * The downstream was not there for the record.
     *
     * @return whether that is the record's own failure
     */
    public boolean refused(String cause) {
      lock.lock();
      try {
        long passed = passes.get();
        boolean nobodyPassed = passesWhenRefused == passed;
        passesWhenRefused = passed;
        failedBecause(cause);
        if (state instanceof Closed closed && (nobodyPassed || closed.mostFailed())) {
          closed.open(cause);
        }
        return state instanceof Closed && ++refusals >= REFUSALS;
      } finally {
        lock.unlock();
      }
    }

    /**
     * The attempt failed.
     *
     * @return whether that is the record's own failure
     */
    public boolean failed(String cause) {
      lock.lock();
      try {
        if (lone || (said < SAY && !discounted.contains(partition))) {
          said++;
          failedBecause(cause);
        }
        return state instanceof Closed;
      } finally {
        lock.unlock();
      }
    }

    private void failedBecause(String cause) {
      failing.add(partition);
      switch (state) {
        case Closed closed -> closed.failed(cause);
        case Open open -> open.failed(this, cause);
      }
    }

    /** How often the record was refused while others passed. */
    public int refusals() {
      return refusals;
    }

    /** The record is not tried for now, or has been. */
    @Override
    public void leave() {
      if (!waited && !lone) {
        return;
      }
      lock.lock();
      try {
        waited = false;
        lone = false;
        if (state instanceof Open open) {
          open.leaves(this);
        }
      } finally {
        lock.unlock();
      }
    }
  }

  private static Set<Object> without(Set<Object> all, Object one) {
    return all.stream().filter(each -> !each.equals(one)).collect(Collectors.toUnmodifiableSet());
  }
}
