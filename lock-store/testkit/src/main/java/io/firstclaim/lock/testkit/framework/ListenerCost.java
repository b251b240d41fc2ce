package io.firstclaim.lock.testkit.framework;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Measures what an annotation adds to a listener that does nothing: rounds with and without it in
 * turn, each of records that wait, from the first to the last call.
 *
 * @param records of a round
 */
public record ListenerCost(int records) {
  private static final int ROUNDS = 9;
  private static final int WARM_UP = 3;

  /** Has an application of its own hear all the records. */
  @FunctionalInterface
  public interface Round {
    /**
     * Runs it until the clock has counted all.
     *
     * @param group of its consumer, which no other round has
     */
    void run(Clock clock, boolean deduplicated, String group) throws Exception;
  }

  /** Counts the calls of one thread, and takes the time of the first and the last. */
  public static final class Clock {
    private final int records;
    private final CountDownLatch all = new CountDownLatch(1);
    private long calls;
    private long first;
    private long last;

    private Clock(int records) {
      this.records = records;
    }

    /** The listener was called. */
    public void call() {
      long now = System.nanoTime();
      if (calls++ == 0) {
        first = now;
      }
      if (calls == records) {
        last = now;
        all.countDown();
      }
    }

    /** Waits for the last call. */
    public void await() throws InterruptedException {
      assertThat(all.await(10, TimeUnit.MINUTES)).isTrue();
    }

    private double microsOfEach() {
      return (last - first) / 1e3 / (records - 1);
    }
  }

  /** Measures, and prints what it has found. */
  public void measure(Round round) throws Exception {
    List<Double> plain = new ArrayList<>();
    List<Double> once = new ArrayList<>();
    List<Double> added = new ArrayList<>();
    for (int i = 0; i < WARM_UP + ROUNDS; i++) {
      double without = measured(round, false, "plain-" + i);
      double with = measured(round, true, "once-" + i);
      if (i >= WARM_UP) {
        plain.add(without);
        once.add(with);
        added.add(with - without);
      }
    }
    System.out.printf(
        "A listener takes %.1f µs a record, with @Deduplicated %.1f µs: %.1f µs more"
            + " (medians of %d rounds of %d records; %.1f to %.1f)%n",
        median(plain),
        median(once),
        median(added),
        ROUNDS,
        records,
        Collections.min(added),
        Collections.max(added));
    assertThat(median(added)).isLessThan(1000);
  }

  private double measured(Round round, boolean deduplicated, String group) throws Exception {
    Clock clock = new Clock(records);
    round.run(clock, deduplicated, group);
    return clock.microsOfEach();
  }

  private static double median(List<Double> figures) {
    return figures.stream().sorted().toList().get(figures.size() / 2);
  }
}
