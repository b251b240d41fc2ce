package io.firstclaim.processor.dataset;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that goes on by sleeps alone, which take no time: what else happens takes none, on
 * however busy a machine.
 */
final class HastyTime implements TimeSource {
  private final Instant start = Instant.now();
  private final Meanwhile meanwhile;
  private final AtomicLong slept = new AtomicLong();
  private final AtomicInteger sleeps = new AtomicInteger();

  /** What happens while somebody sleeps. */
  interface Meanwhile {
    /**
     * Happens.
     *
     * @param sleep which sleep it is, from 1
     */
    void during(int sleep) throws InterruptedException;
  }

  HastyTime() {
    this(_ -> {});
  }

  HastyTime(Meanwhile meanwhile) {
    this.meanwhile = meanwhile;
  }

  @Override
  public Moment now() {
    return new Moment(start.plus(slept()), slept.get());
  }

  @Override
  public void sleep(Duration duration) throws InterruptedException {
    slept.addAndGet(duration.toNanos());
    meanwhile.during(sleeps.incrementAndGet());
  }

  /** How long all sleeps were together. */
  Duration slept() {
    return Duration.ofNanos(slept.get());
  }

  /** How many sleeps there were. */
  int sleeps() {
    return sleeps.get();
  }
}
