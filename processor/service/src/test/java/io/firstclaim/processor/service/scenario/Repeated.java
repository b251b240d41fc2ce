package io.firstclaim.processor.service.scenario;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Something that a thread of its own does again and again, with a pause after each time. */
final class Repeated implements AutoCloseable {
  private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

  Repeated(Duration pause, Runnable task) {
    var _ = thread.scheduleWithFixedDelay(task, 0, pause.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Ends it; what is under way is interrupted. */
  @Override
  public void close() {
    thread.shutdownNow();
    thread.close();
  }
}
