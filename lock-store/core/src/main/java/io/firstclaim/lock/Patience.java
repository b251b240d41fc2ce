package io.firstclaim.lock;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How long one caller goes on trying for something that others want too, and the pauses between its
 * attempts: random up to a bound that doubles from pause to pause, 20 ms at first and 2 s at most
 * (<a href="https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/">exponential
 * backoff with full jitter</a>). For one thread.
 */
public final class Patience {
  private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(2));

  private final TimeSource time;
  private final Moment begin;
  private final Duration limit;
  private int pauses;

  /** Patience for this long from now; zero is one attempt. */
  public Patience(TimeSource time, Duration limit) {
    this.time = time;
    this.begin = time.now();
    this.limit = limit;
  }

  /** What is left of this patience, but at most this much. */
  public Patience shortened(Duration most) {
    return new Patience(time, shorter(left(), most));
  }

  /** Whether the time is up. */
  public boolean isOver() {
    return !left().isPositive();
  }

  /** Pauses before the next attempt, for no longer than there is time left. */
  public void pause() throws InterruptedException {
    pause(BACKOFF.longest());
  }

  /**
   * Pauses before the next attempt, for no longer than there is time left and hardly longer than
   * {@code due}; a random bit on top keeps those who wait for the same thing from all coming at
   * once.
   *
   * @param due how long until something is known to happen
   */
  public void pause(Duration due) throws InterruptedException {
    pauses++;
    Duration pause = randomUpTo(BACKOFF.whole(pauses));
    if (due.compareTo(pause) < 0) {
      pause = due.plus(randomUpTo(BACKOFF.first()));
    }
    time.sleep(shorter(pause, left()));
  }

  private Duration left() {
    return limit.minus(time.now().since(begin));
  }

  private static Duration randomUpTo(Duration bound) {
    return Duration.ofNanos(ThreadLocalRandom.current().nextLong(bound.toNanos()) + 1);
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
