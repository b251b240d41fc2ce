package io.firstclaim.listener;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunResult;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job that is run once for each time that it is due, among all instances. Each waits until that
 * is settled: so one that dies is followed by another. Thread-safe.
 */
public final class OncePerFireTime {
  private static final Logger LOG = LoggerFactory.getLogger(OncePerFireTime.class);

  /** The longest time until a store is asked again, whatever it said. */
  private static final Duration LONGEST = Duration.ofSeconds(5);

  private static final Duration SOON = Duration.ofSeconds(1);

  private final String name;
  private final Deduplicator deduplicator;
  private final TimeSource time;
  private final OncePerMinute loud;

  /**
   * A job of this name.
   *
   * @param deduplicator whose end is that of each wait
   */
  public OncePerFireTime(String name, Deduplicator deduplicator, TimeSource time) {
    this.name = name;
    this.deduplicator = deduplicator;
    this.time = time;
    this.loud = new OncePerMinute(time);
  }

  /**
   * Runs it for this time, or waits until another instance has. Returns once that is settled, and
   * before if the thread is interrupted or the deduplicator closed: then it is left to others.
   *
   * @param fireTime which all instances have alike
   * @param work what the job does; it may be called again after it has failed
   */
  public void settle(Instant fireTime, Deduplicator.Work work) {
    RecordId id = RecordId.of(name + "@" + fireTime);
    try {
      for (Duration pause = tryOnce(id, work); pause != null; pause = tryOnce(id, work)) {
        time.sleep(pause.compareTo(LONGEST) < 0 ? pause : LONGEST);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IllegalStateException e) {
      LOG.debug("{} is left to others: {}", id, e.getMessage());
    }
  }

  /** Null once it is settled, else how long until it is worth asking again. */
  private @Nullable Duration tryOnce(RecordId id, Deduplicator.Work work)
      throws InterruptedException {
    try {
      return switch (deduplicator.run(id, Fingerprint.none(), work)) {
        case RunResult.Ran unused -> null;
        case RunResult.DoneBefore unused -> null;
        // Cannot happen: claims of fire times have no payload.
        case RunResult.OtherPayload unused -> null;
        case RunResult.GivenUp(var ending, String cause, Throwable thrown) -> {
          LOG.error(
              "Gave {} up after attempt {}: {}", id, ending.attempt(), OneLine.of(cause), thrown);
          yield null;
        }
        case RunResult.Busy(var unused, Duration remaining) -> remaining;
        case RunResult.NotDue(Instant retryAt, var unused) -> until(retryAt);
        case RunResult.AttemptFailed(Instant retryAt, int attempts, Throwable cause) -> {
          LOG.warn("Attempt {} on {} failed", attempts, id, cause);
          yield until(retryAt);
        }
        case RunResult.LeaseLost lost -> {
          LOG.warn("{} is tried again: {}", id, lost);
          yield SOON;
        }
        case RunResult.Unknown unknown -> {
          LOG.warn("{} is tried again: {}", id, unknown);
          yield SOON;
        }
      };
    } catch (StoreException e) {
      if (loud.isDue()) {
        LOG.warn("{} waits for the store: {}", id, OneLine.of(e.toString()));
      }
      return SOON;
    }
  }

  private Duration until(Instant retryAt) {
    return Duration.between(time.now().wall(), retryAt);
  }
}
