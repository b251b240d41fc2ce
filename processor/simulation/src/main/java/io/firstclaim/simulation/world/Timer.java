package io.firstclaim.simulation.world;

import io.firstclaim.simulation.hook.Hooks;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** What happens on a machine at a time, unless it is cancelled. */
final class Timer implements ScheduledFuture<Void> {
  private final Machine machine;
  private final long at;
  private final long number;
  private final Runnable task;
  private boolean cancelled;
  private boolean done;

  /**
   * A timer.
   *
   * @param number orders those of one time
   */
  Timer(Machine machine, long at, long number, Runnable task) {
    this.machine = machine;
    this.at = at;
    this.number = number;
    this.task = task;
  }

  Machine machine() {
    return machine;
  }

  long at() {
    return at;
  }

  Runnable task() {
    done = true;
    return task;
  }

  @Override
  public int compareTo(Delayed other) {
    Timer timer = (Timer) other;
    return at == timer.at ? Long.compare(number, timer.number) : Long.compare(at, timer.at);
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(number);
  }

  @Override
  public boolean cancel(boolean interrupting) {
    boolean wasWaiting = !done && !cancelled;
    cancelled = true;
    return wasWaiting;
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public boolean isDone() {
    return done || cancelled;
  }

  @Override
  public long getDelay(TimeUnit unit) {
    return unit.convert(at - Hooks.ticks(), TimeUnit.NANOSECONDS);
  }

  @Override
  public Void get() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Void get(long timeout, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }
}
