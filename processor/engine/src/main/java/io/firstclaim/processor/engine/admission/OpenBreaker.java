package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.Moment;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Records wait, and one tries now and then; the breaker is half open while it does. */
final class OpenBreaker implements BreakerState {
  /** How long the one that tries may take before another one may try, too. */
  private static final Duration ANOTHER_TRIES = Duration.ofSeconds(10);

  private static final Duration CALL_EVERY = Duration.ofMillis(100);

  private final Breaker breaker;
  private final boolean asNearlyAllFail;
  private final boolean isLoud;

  /** By partition: the first record of the first one tries next. */
  private final SequencedMap<Object, SequencedSet<Breaker.Trial>> waiting = new LinkedHashMap<>();

  private volatile String cause;
  private Breaker.@Nullable Trial trying;
  private Moment triesSince;
  private boolean calls;

  OpenBreaker(Breaker breaker, boolean asNearlyAllFail, String cause) {
    this.breaker = breaker;
    this.asNearlyAllFail = asNearlyAllFail;
    this.cause = cause;
    this.triesSince = breaker.time.now();
    this.isLoud = breaker.loud.isDue();
    if (isLoud) {
      Breaker.LOG.warn(
          "{}; records wait, and one tries now and then: {}",
          asNearlyAllFail ? "Nearly every record fails" : "The downstream is not there",
          cause);
    }
  }

  @Override
  public String fault() {
    return cause;
  }

  @Override
  public boolean admits(Breaker.Trial trial) {
    if (trying != null && breaker.time.now().since(triesSince).compareTo(ANOTHER_TRIES) > 0) {
      letAnotherTry();
    }
    if (trying == trial) {
      return true; // it is the record that was let through, and has waited for something else since
    }
    if (!bringsNews(trial) && !(isNext(trial) && breaker.circuit.tryAcquirePermission())) {
      callInTurn(); // before it waits: where no thread can be had, it would wait uncalled
      beginsToWait(trial);
      return false;
    }
    stopsWaiting(trial);
    // Those of its partition that wait are behind those of all others now.
    SequencedSet<Breaker.Trial> others = waiting.get(trial.partition);
    if (others != null) {
      waiting.putLast(trial.partition, others);
    }
    trying = trial;
    triesSince = breaker.time.now();
    return true;
  }

  /** Whether it would tell if the downstream is away, or only for the partitions that failed. */
  private boolean bringsNews(Breaker.Trial trial) {
    return asNearlyAllFail && trying == null && !breaker.failing.contain(trial.partition);
  }

  private boolean isNext(Breaker.Trial trial) {
    return waiting.isEmpty() || next() == trial;
  }

  private Breaker.Trial next() {
    return waiting.firstEntry().getValue().getFirst();
  }

  @Override
  public void leaves(Breaker.Trial trial) {
    stopsWaiting(trial);
    if (trying == trial) {
      letAnotherTry();
    }
  }

  private void beginsToWait(Breaker.Trial trial) {
    SequencedSet<Breaker.Trial> others = waiting.get(trial.partition);
    if (others == null) {
      // It goes in first: without memory for that, an empty set would be left, which has no next.
      SequencedSet<Breaker.Trial> alone = new LinkedHashSet<>();
      alone.add(trial);
      waiting.put(trial.partition, alone);
    } else {
      others.add(trial);
    }
  }

  private void stopsWaiting(Breaker.Trial trial) {
    SequencedSet<Breaker.Trial> others = waiting.get(trial.partition);
    if (others != null && others.remove(trial) && others.isEmpty()) {
      waiting.remove(trial.partition);
    }
  }

  private void letAnotherTry() {
    trying = null;
    breaker.circuit.releasePermission();
  }

  /** Only the failure of the record that tries counts. */
  @Override
  public void failed(Breaker.Trial trial, String why) {
    if (trying == trial) {
      trying = null;
      cause = why;
      breaker.circuit.onResult(0, TimeUnit.NANOSECONDS, Breaker.Result.FAILED);
    }
  }

  /**
   * A record that has tried closes the breaker, however late its answer; one from before it opened
   * does not.
   */
  @Override
  public void passed(Breaker.Trial trial) {
    if (!trial.lone) {
      return;
    }
    breaker.circuit.transitionToClosedState();
    if (asNearlyAllFail) {
      breaker.failing.othersPass();
    }
    BreakerState closed = new ClosedBreaker(breaker);
    breaker.state = closed;
    waiting.values().forEach(trials -> trials.forEach(other -> other.record.call()));
    waiting.clear();
    if (isLoud) {
      Breaker.LOG.info("The downstream is there again");
    }
    closed.passed(trial);
  }

  private void callInTurn() {
    if (!calls) {
      Thread.ofVirtual().name("firstclaim-breaker").start(this::callWhileTheyWait);
      calls = true;
    }
  }

  private void callWhileTheyWait() {
    boolean theyWait = true;
    while (theyWait) {
      try {
        theyWait = callNext();
        if (theyWait) {
          breaker.time.sleep(CALL_EVERY);
        }
      } catch (InterruptedException e) {
        // nobody interrupts this thread
      } catch (RuntimeException | Error e) { // such as no memory left: nobody else calls them
        DefectPause.after(e, Breaker.LOG, "Calling a record to try", CALL_EVERY);
      }
    }
  }

  private boolean callNext() {
    synchronized (breaker) {
      calls = !waiting.isEmpty();
      if (calls) {
        next().record.call();
      }
      return calls;
    }
  }
}
