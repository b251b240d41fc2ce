package io.firstclaim.processor.engine.admission;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Every record passes, and tells how it went. */
final class ClosedBreaker implements BreakerState {
  private final Breaker breaker;
  private int passesInARow;
  private String lastFailure = "";

  /** Whether the last ones all passed, so that another pass is no news. */
  private volatile boolean allPass;

  ClosedBreaker(Breaker breaker) {
    this.breaker = breaker;
  }

  /** Whether a pass is no news, from a partition that has its say. By any thread. */
  boolean expectsPasses() {
    return allPass;
  }

  @Override
  public @Nullable String fault() {
    return null;
  }

  @Override
  public boolean admits(Breaker.Trial trial) {
    return true;
  }

  @Override
  public void passed(Breaker.Trial trial) {
    allPass = ++passesInARow >= Breaker.RECENT;
    if (allPass) {
      breaker.failing.allPass();
    }
    tell(Breaker.Result.PASSED);
    if (breaker.state != this) {
      // It opened although this record passed, so nearly all others of its partition have failed.
      breaker.failing.add(trial.partition);
    }
  }

  @Override
  public void failed(Breaker.Trial trial, String cause) {
    lastFailure = cause;
    passesInARow = 0;
    allPass = false;
    tell(Breaker.Result.FAILED);
  }

  /**
   * Tells the circuit of a result; either one may be the one that makes them enough to judge by.
   */
  private void tell(Breaker.Result result) {
    breaker.circuit.onResult(0, TimeUnit.NANOSECONDS, result);
    if (breaker.circuit.getState() != CircuitBreaker.State.CLOSED) {
      breaker.state = new OpenBreaker(breaker, true, lastFailure);
    }
  }

  boolean mostFailed() {
    CircuitBreaker.Metrics recent = breaker.circuit.getMetrics();
    return 2 * recent.getNumberOfFailedCalls() > recent.getNumberOfBufferedCalls();
  }

  void open(String cause) {
    breaker.circuit.transitionToOpenState();
    breaker.state = new OpenBreaker(breaker, false, cause);
  }

  @Override
  public void leaves(Breaker.Trial trial) {}
}
