package io.firstclaim.spring.jobs;

import io.firstclaim.lock.keeper.Worker;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.SchedulingAwareRunnable;

/** Runs of a job under its mutex, which is kept while they last. Thread-safe. */
final class ExclusiveRun {
  private static final Logger LOG = LoggerFactory.getLogger(ExclusiveRun.class);

  private final Mutex mutex;

  ExclusiveRun(Mutex mutex) {
    this.mutex = mutex;
  }

  /**
   * Runs the job once it has the mutex. If that is lost meanwhile, the job is interrupted.
   *
   * @param wait how long to wait for it
   * @return false if others held it the whole time, and nothing ran
   * @throws IllegalStateException if the job threw something, such as that interrupt, after it had
   *     lost the mutex: it has failed, and was not told to stop
   */
  boolean run(Runnable job, Duration wait) throws InterruptedException {
    Optional<HeldMutex> acquired = mutex.acquire(wait);
    if (acquired.isEmpty()) {
      return false;
    }
    Worker worker = new Worker();
    try (HeldMutex held = acquired.get()) {
      held.whenLost(worker::interrupt);
      worker.begin();
      try {
        job.run();
      } catch (RuntimeException e) {
        throw held.isHeld() ? e : new IllegalStateException("its mutex was lost as it ran", e);
      } finally {
        boolean unused = worker.end();
        if (!held.isHeld()) {
          LOG.warn("{} ran on without its mutex, and another instance may have run it", job);
        }
      }
    }
    return true;
  }

  /** The job, left out where another instance is at it; on the scheduler that it names. */
  Runnable orNotAtAll(Runnable job) {
    return new SchedulingAwareRunnable() {
      @Override
      public boolean isLongLived() {
        return job instanceof SchedulingAwareRunnable aware && aware.isLongLived();
      }

      @Override
      public @Nullable String getQualifier() {
        return job instanceof SchedulingAwareRunnable aware ? aware.getQualifier() : null;
      }

      @Override
      public void run() {
        try {
          if (!ExclusiveRun.this.run(job, Duration.ZERO)) {
            LOG.debug("{} is not run: another has its mutex", job);
          }
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }

      @Override
      public String toString() {
        return job.toString();
      }
    };
  }
}
