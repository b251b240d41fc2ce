package io.firstclaim.lock.store;

import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
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

  /** All answers within a second bear the same date, which is parsed only once. Guarded by this. */
  private Dated latest = new Dated("", null);

  /** Guarded by this. */
  private @Nullable Moment lastLogged;

  private record Dated(String text, @Nullable Instant date) {}

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
    Anchor known = anchor; // read before the time, which is then not before it
    Moment now = time.now();
    return known == null
            || now.hasLeaptSince(known.begin)
            || now.since(known.at).compareTo(lasting) > 0
        ? StoreMoment.unknown(now)
        : known.on(now);
  }

  @Override
  public synchronized void observe(String text, Moment sent, Moment received) {
    boolean first = !latest.text.equals(text);
    if (first) {
      latest = new Dated(text, parsed(text).orElse(null));
    }
    Instant date = latest.date;
    if (date == null || received.hasLeaptSince(sent)) {
      return; // it proves nothing
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

  /** What both allow; the latest alone where they cannot be compared or contradict each other. */
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

  /** The time in a {@code Date}, if it is one. */
  public static Optional<Instant> parsed(String date) {
    try {
      return Optional.of(
          ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
    } catch (DateTimeException e) {
      return Optional.empty();
    }
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

    /** What both allow; null for nothing. */
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

    /** By how much, at least, it is ahead of this; negative: behind. */
    Duration ahead(Instant wall) {
      Duration least = Duration.between(wall, early);
      Duration most = Duration.between(wall, late);
      return least.isPositive() ? least : most.isNegative() ? most : Duration.ZERO;
    }
  }
}
