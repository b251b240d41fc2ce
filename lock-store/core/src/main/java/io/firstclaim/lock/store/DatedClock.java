package io.firstclaim.lock.store;

import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The store's clock as the {@code Date} of its answers shows it. Each was stamped between the
 * sending of a request and the receipt of its answer, and cut to the second; what all of them allow
 * is the anchor, and now is the anchor plus the ticks since. With every tick it grows wider, as
 * time synchronisation may slew the ticks. This machine's wall clock has no part in it but one:
 * where it leaps against the ticks, the machine may have been suspended, the ticks tell less than
 * the truth, and the anchor is forgotten. Thread-safe.
 */
public final class DatedClock implements StoreClock {
  private static final Logger LOG = LoggerFactory.getLogger(DatedClock.class);
  private static final Duration RESOLUTION = Duration.ofSeconds(1);
  private static final Duration LOG_EVERY = Duration.ofMinutes(1);
  private static final int MILLION = 1_000_000;

  private final TimeSource time;
  private final Duration lasting;
  private final StoreListener listener;
  private volatile @Nullable Anchor anchor;

  private final HttpDates dates = new HttpDates();

  /** The header that was taken in last. Guarded by this. */
  private String latest = "";

  /** Guarded by this. */
  private @Nullable Moment lastLogged;

  /**
   * A clock that knows nothing until the first answer.
   *
   * @param lasting how long after an answer it still knows the time; by then the bounds are wider
   *     by a sixth of that
   * @param listener hears how far the store's clock is ahead of this machine's
   */
  public DatedClock(TimeSource time, Duration lasting, StoreListener listener) {
    this.time = time;
    this.lasting = lasting;
    this.listener = listener;
  }

  @Override
  public StoreMoment now() {
    Anchor known = anchor; // read before the clock, so that the anchor is never younger than now
    Moment now = time.now();
    return known == null
            || now.hasLeaptSince(known.begin)
            || now.since(known.at).compareTo(lasting) > 0
        ? StoreMoment.unknown(now)
        : known.on(now);
  }

  @Override
  public synchronized void observe(String text, Moment sent, Moment received) {
    boolean first = !latest.equals(text);
    latest = text;
    Instant date = dates.time(text).orElse(null);
    if (date == null || received.hasLeaptSince(sent)) {
      return; // without a date, or with a leap of the clock meanwhile, it proves nothing
    }
    Anchor fresh =
        new Anchor(
            received, received, date, date.plus(RESOLUTION).plus(most(received.since(sent))));
    Anchor known = anchor;
    Anchor next = known == null ? fresh : narrowed(known, fresh);
    anchor = next;
    if (first) {
      listener.clockSkew(next.ahead(received.wall()));
    }
  }

  /**
   * The bounds that both anchors allow; those of the latest alone where they cannot be compared or
   * contradict each other.
   */
  private Anchor narrowed(Anchor known, Anchor fresh) {
    if (fresh.at.hasLeaptSince(known.begin)) {
      log(fresh.at, "This machine's clock was set, or the machine was suspended");
      return fresh;
    }
    Anchor both = known.narrowedBy(fresh);
    if (both == null) {
      log(fresh.at, "The store's answers contradict each other, or this machine stood still");
      return fresh;
    }
    return both;
  }

  private void log(Moment now, String what) {
    if (lastLogged == null || now.since(lastLogged).compareTo(LOG_EVERY) >= 0) {
      lastLogged = now;
      LOG.warn("{}: the store's time is taken anew from its latest answer", what);
    }
  }

  /** The least time that may have passed while the ticks count this. */
  private static Duration least(Duration ticks) {
    return ticks.multipliedBy(MILLION).dividedBy(MILLION + Lease.SLEW_PPM);
  }

  /** The most time that may have passed while the ticks count this. */
  private static Duration most(Duration ticks) {
    return ticks.multipliedBy(MILLION).dividedBy(MILLION - Lease.SLEW_PPM);
  }

  /**
   * Bounds of the store's time.
   *
   * @param begin when the first of the answers came that they are taken from
   * @param at when they held
   */
  private record Anchor(Moment begin, Moment at, Instant early, Instant late) {
    Anchor since(Moment now) {
      Duration ticks = now.since(at);
      return new Anchor(begin, now, early.plus(least(ticks)), late.plus(most(ticks)));
    }

    /** The bounds that both anchors allow; null if they allow nothing. */
    @Nullable Anchor narrowedBy(Anchor other) {
      Moment later = other.at.since(at).isNegative() ? at : other.at;
      Anchor one = since(later);
      Anchor two = other.since(later);
      Instant low = one.early.isBefore(two.early) ? two.early : one.early;
      Instant high = one.late.isAfter(two.late) ? two.late : one.late;
      return low.isAfter(high) ? null : new Anchor(begin, later, low, high);
    }

    StoreMoment on(Moment now) {
      Anchor then = since(now);
      return new StoreMoment(
          now,
          then.early.truncatedTo(ChronoUnit.MILLIS),
          then.late.plusNanos(MILLION - 1).truncatedTo(ChronoUnit.MILLIS));
    }

    /** By how much, at least, the store's clock is ahead of this one; negative if it is behind. */
    Duration ahead(Instant wall) {
      Duration least = Duration.between(wall, early);
      Duration most = Duration.between(wall, late);
      return least.isPositive() ? least : most.isNegative() ? most : Duration.ZERO;
    }
  }
}
