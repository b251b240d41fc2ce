package io.firstclaim.micronaut.jobs;

import io.firstclaim.listener.OncePerFireTime;
import io.firstclaim.lock.deduplicator.Deduplicator;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job that is run once for each time that it is due. It waits and runs on a thread of its own,
 * for the scheduler's are few. Thread-safe.
 */
final class DueJob implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DueJob.class);

  private final String name;
  private final OncePerFireTime once;
  private final FireTimes due;
  private final ExecutorService thread;
  private @Nullable Instant waiting;

  /** A job of this name, at the times that all instances have alike. */
  DueJob(String name, OncePerFireTime once, FireTimes due) {
    this.name = name;
    this.once = once;
    this.due = due;
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
        thread.execute(() -> once.settle(taken(), work));
      } catch (RejectedExecutionException e) {
        LOG.debug("{} is left to others: the application stops", name);
      }
    }
  }

  private synchronized Instant taken() {
    Instant fireTime = Objects.requireNonNull(waiting);
    waiting = null;
    return fireTime;
  }

  /** Waits for nothing more. What runs was interrupted by the deduplicator, as that was closed. */
  @Override
  public void close() {
    var unused = thread.shutdownNow();
  }
}
