package io.firstclaim.lock.dynamodb;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.dynamodb.StatementConformance.Conforms;
import io.firstclaim.lock.dynamodb.StatementConformance.Unsafe;
import io.firstclaim.lock.dynamodb.StatementConformance.Unusable;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a table takes statements, as far as is known. One that does not is tried again now and
 * then, as somebody may have granted the permissions meanwhile. Thread-safe.
 */
final class StatementSupport {
  /** How long after it was seen to take no statements a table is tried again. */
  static final Duration AGAIN = Duration.ofMinutes(10);

  private static final Logger LOG = LoggerFactory.getLogger(StatementSupport.class);

  private final ClaimItems items;

  /** Written under the monitor. */
  private volatile State state = new State.Taken();

  private sealed interface State {
    /** The table takes statements. */
    record Taken() implements State {}

    /** The table took no statements when it was last tried, which was then. */
    record NotTaken(Moment tried) implements State {}

    /** The table does not keep the conditions of statements, and is never tried again. */
    record Unsafe() implements State {}
  }

  /** Takes for granted that the table takes statements, until it is seen not to. */
  StatementSupport(ClaimItems items) {
    this.items = items;
  }

  /** Tries the table, twice if need be: a lost answer or a throttled statement proves nothing. */
  void tryNow() {
    if (check() instanceof Conforms) {
      return;
    }
    switch (check()) {
      case Conforms() -> {}
      case Unusable(String why) -> turnOff(why);
      case Unsafe(String why) -> {
        turnOff(why);
        forbid();
      }
    }
  }

  private StatementConformance check() {
    return new StatementConformanceCheck(items).run();
  }

  /** Whether the table takes statements, as far as is known; asks nobody. */
  boolean isOn() {
    return state instanceof State.Taken;
  }

  /**
   * Whether the table takes statements; if not, has it tried again if that is due, without waiting
   * for it.
   */
  boolean isOnOrTriedAgain() {
    if (isOn()) {
      return true;
    }
    if (takeTurn()) {
      Thread unused = Thread.startVirtualThread(this::tryAgain);
    }
    return false;
  }

  /** Whether the caller is the one that has to try the table again now. */
  private synchronized boolean takeTurn() {
    Moment now = items.time().now();
    if (state instanceof State.NotTaken(Moment tried) && now.since(tried).compareTo(AGAIN) >= 0) {
      state = new State.NotTaken(now);
      return true;
    }
    return false;
  }

  private void tryAgain() {
    try {
      switch (check()) {
        case Conforms() -> turnOn();
        case Unusable(String why) ->
            LOG.debug("DynamoDB table {} still takes no statements: {}", items.table(), why);
        case Unsafe(String why) -> {
          LOG.debug(
              "DynamoDB table {} does not keep statements' conditions: {}", items.table(), why);
          forbid();
        }
      }
    } catch (RuntimeException e) {
      LOG.debug("Cannot try statements on DynamoDB table {} now", items.table(), e);
    }
  }

  private synchronized void turnOn() {
    state = new State.Taken();
    LOG.info(
        "DynamoDB table {} takes statements again: up to {} writes leave in one request",
        items.table(),
        BatchedItems.MOST);
  }

  /** The table was seen to take no statements. */
  synchronized void turnOff(String why) {
    if (isOn()) {
      state = new State.NotTaken(items.time().now());
      LOG.warn(
          "DynamoDB table {} takes no statements, so each write is a request of its own: {}. Grant"
              + " dynamodb:PartiQLInsert and dynamodb:PartiQLUpdate on it to have up to {} in one"
              + " request, or set the batch to 1",
          items.table(),
          OneLine.of(why),
          BatchedItems.MOST);
    }
  }

  private synchronized void forbid() {
    state = new State.Unsafe();
  }
}
