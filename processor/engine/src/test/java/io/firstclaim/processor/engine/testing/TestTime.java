package io.firstclaim.processor.engine.testing;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Clocks that the test moves: they stand still, or run, in between. */
public final class TestTime implements TimeSource {
  private final TimeSource base;
  private final AtomicLong moved = new AtomicLong();
  private final AtomicLong set = new AtomicLong();

  private TestTime(TimeSource base) {
    this.base = base;
  }

  /** Clocks that only the test moves. */
  public static TestTime standing() {
    Moment start = new Moment(Instant.parse("2030-01-01T00:00:00Z"), 1_000);
    return new TestTime(() -> start);
  }

  /** The clocks of this machine, which the test may put forward. */
  public static TestTime running() {
    return new TestTime(TimeSource.system());
  }

  @Override
  public Moment now() {
    Moment now = base.now();
    long nanos = moved.get();
    return new Moment(now.wall().plusNanos(nanos + set.get()), now.ticks() + nanos);
  }

  /** These clocks for somebody who sleeps in this way. */
  public TimeSource sleepingBy(Consumer<Duration> sleep) {
    return new TimeSource() {
      @Override
      public Moment now() {
        return TestTime.this.now();
      }

      @Override
      public void sleep(Duration duration) {
        sleep.accept(duration);
      }
    };
  }

  /** Puts both clocks forward. */
  public void advance(Duration by) {
    moved.addAndGet(by.toNanos());
  }

  /** Somebody sets the wall clock. */
  public void setWall(Duration by) {
    set.addAndGet(by.toNanos());
  }
}
