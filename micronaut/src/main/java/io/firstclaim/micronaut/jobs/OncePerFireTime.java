package io.firstclaim.micronaut.jobs;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunResult;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job that is run once for each time that it is due, among all instances. Each waits until that
 * is settled: so one that dies is followed by another. It waits and runs on a thread of its own,
 * for the scheduler's are few. Thread-safe.
 */
final class OncePerFireTime implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OncePerFireTime.class);

  /** Until a store is asked again, whatever it said. */
  private static final Duration LONGEST = Duration.ofSeconds(5);

  private static final Duration SOON = Duration.ofSeconds(1);

  private final String name;
  private final Deduplicator deduplicator;
  private final TimeSource time;
  private final FireTimes due;
  private final OncePerMinute loud;
  private final ExecutorService thread;
  private @Nullable Instant waiting;

  /** A job of this name, at the times that all instances have alike. */
  OncePerFireTime(String name, Deduplicator deduplicator, TimeSource time, FireTimes due) {
    this.name = name;
    this.deduplicator = deduplicator;
    this.time = time;
    this.due = due;
    this.loud = new OncePerMinute(time);
    this.thread =
        Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("firstclaim-job-" + name).factory());
  }

  /**
   * It is due: has it run, unless others do. Of several times that come while it waits for an
   * earlier one it is run for the last, as a scheduler does whose job takes longer than its period.
   *
   * @throws IllegalStateException if it is not due
   */
  synchronized void run(Deduplicator.Work work) {
    Instant fireTime = due.take();
    boolean queued = waiting != null;
    waiting = fireTime;
    if (!queued) {
      try {
        thread.execute(() -> settle(RecordId.of(name + "@" + taken()), work));
      } catch (RejectedExecutionException e) {
        LOG.debug("{} is left to others: the application stops", name);
      }
    }
  }

  private synchronized @Nullable Instant taken() {
    Instant fireTime = waiting;
    waiting = null;
    return fireTime;
  }

  private void settle(RecordId id, Deduplicator.Work work) {
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
        case RunResult.OtherPayload unused -> null; // for all are without one
        case RunResult.GivenUp(var ending, String cause, Throwable thrown) -> {
          LOG.error("Gave {} up after attempt {}: {}", id, ending.attempt(), cause, thrown);
          yield null;
        }
        case RunResult.Busy(var unused, Duration remaining) -> remaining;
        case RunResult.NotDue(Instant retryAt, var unused) -> until(retryAt);
        case RunResult.Failed(Instant retryAt, int attempts, Throwable cause) -> {
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
        LOG.warn("{} waits for the store: {}", id, e.toString());
      }
      return SOON;
    }
  }

  private Duration until(Instant retryAt) {
    return Duration.between(time.now().wall(), retryAt);
  }

  /** Waits for nothing more; the deduplicator interrupts what runs. */
  @Override
  public void close() {
    var unused = thread.shutdownNow();
  }
}
