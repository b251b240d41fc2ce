package io.firstclaim.spring.jobs;

import io.firstclaim.listener.OncePerFireTime;
import io.firstclaim.lock.deduplicator.Deduplicator;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.TriggerContext;

/**
 * A job that is run once for each time that it is due. Its scheduler runs it on the thread that it
 * asks for the next time, or the time would not be known.
 */
final class DueJob implements Runnable, Trigger {
  private final OncePerFireTime once;
  private final Trigger trigger;
  private final Deduplicator.Work work;
  private volatile @Nullable Instant due;

  /**
   * A job.
   *
   * @param trigger which all instances have alike
   */
  DueJob(OncePerFireTime once, Trigger trigger, Deduplicator.Work work) {
    this.once = once;
    this.trigger = trigger;
    this.work = work;
  }

  @Override
  public @Nullable Instant nextExecution(TriggerContext context) {
    Instant next = trigger.nextExecution(context);
    due = next;
    return next;
  }

  @Override
  public void run() {
    Instant fireTime = due;
    if (fireTime != null) {
      once.settle(fireTime, work);
    }
  }
}
