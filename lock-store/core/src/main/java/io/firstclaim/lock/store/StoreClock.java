package io.firstclaim.lock.store;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This machine's clocks, compared with the store's. Every answer of the store has a {@code Date}
 * with a resolution of one second; from it and the moments around the request follow bounds on the
 * difference between the two wall clocks, which later answers narrow. While they prove more than
 * half the declared skew bound (two machines may be off in opposite directions), the wall clock is
 * corrected by the middle of the bounds, which is right to half a second at first and soon better.
 * Times are whole milliseconds, as the items keep them. Thread-safe.
 */
public final class StoreClock implements TimeSource {
  private static final Logger LOG = LoggerFactory.getLogger(StoreClock.class);
  private static final Duration RESOLUTION = Duration.ofSeconds(1);
  private static final Duration SAMPLE_EVERY = Duration.ofSeconds(1);

  private final TimeSource time;
  private final Duration maxSkew;
  private final StoreListener listener;
  private volatile Duration correction = Duration.ZERO;
  private volatile @Nullable Sample sample;

  /**
   * A clock that has not heard of the store's yet.
   *
   * @param maxSkew declared bound of the difference between the clocks of any two machines
   * @param listener hears how far the store's clock is ahead
   */
  public StoreClock(TimeSource time, Duration maxSkew, StoreListener listener) {
    this.time = time;
    this.maxSkew = maxSkew;
    this.listener = listener;
  }

  @Override
  public Moment now() {
    Moment now = time.now();
    return new Moment(now.wall().plus(correction).truncatedTo(ChronoUnit.MILLIS), now.ticks());
  }

  /** A time by this machine's clock, as the store is given it. */
  public Instant toStore(Instant ofMachine) {
    return ofMachine.plus(correction);
  }

  /** A time that the store gives, by this machine's clock. */
  public Instant toMachine(Instant ofStore) {
    return ofStore.minus(correction);
  }

  /**
   * Takes in the {@code Date} of an answer that has just come.
   *
   * @param date as HTTP has it
   * @param took from the request to its answer
   */
  public void observe(String date, Duration took) {
    Moment received = time.now();
    Sample last = sample;
    if (last != null && received.since(last.at).compareTo(SAMPLE_EVERY) < 0) {
      return;
    }
    Instant stamped;
    try {
      stamped = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
    } catch (DateTimeException e) {
      return; // a store without a usable Date proves nothing
    }
    var fresh =
        new Sample(
            received,
            Duration.between(received.wall(), stamped),
            Duration.between(received.wall().minus(took), stamped).plus(RESOLUTION));
    Sample known = last == null ? fresh : fresh.narrowedBy(last);
    sample = known;
    Duration proven = known.proven();
    listener.clockSkew(proven);
    Duration before = correction;
    correction = proven.abs().compareTo(maxSkew.dividedBy(2)) > 0 ? known.middle() : Duration.ZERO;
    if (before.isZero() && !correction.isZero()) {
      LOG.warn(
          "This machine's clock differs from the store's by {} at least; max-skew is {}. It is"
              + " corrected by {} until they agree: check this machine's time synchronisation.",
          proven,
          maxSkew,
          correction);
    } else if (!before.isZero() && correction.isZero()) {
      LOG.info("This machine's clock agrees with the store's again.");
    }
  }

  /**
   * Bounds on how far the store's clock was ahead.
   *
   * @param at when the answer that they were taken from came
   * @param least at least this far
   * @param most at most this far
   */
  private record Sample(Moment at, Duration least, Duration most) {
    /** How far a clock may drift in a second: twice what time synchronisation slews it by. */
    private static final int DRIFT_PER_THOUSAND = 1;

    /**
     * These bounds narrowed by the ones before, which have drifted since; these alone if the two
     * disagree, as then a clock was set.
     */
    Sample narrowedBy(Sample before) {
      Duration drift = at.since(before.at).multipliedBy(DRIFT_PER_THOUSAND).dividedBy(1000);
      Duration low = before.least.minus(drift);
      Duration high = before.most.plus(drift);
      Duration newLow = low.compareTo(least) > 0 ? low : least;
      Duration newHigh = high.compareTo(most) < 0 ? high : most;
      return newLow.compareTo(newHigh) <= 0 ? new Sample(at, newLow, newHigh) : this;
    }

    Duration proven() {
      return least.isPositive() ? least : most.isNegative() ? most : Duration.ZERO;
    }

    Duration middle() {
      return least.plus(most).dividedBy(2);
    }
  }
}
