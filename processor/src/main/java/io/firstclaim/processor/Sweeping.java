package io.firstclaim.processor;

import io.firstclaim.lock.s3.Sweeper;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sweeps the bucket again and again, on a thread of its own, until it is closed. */
final class Sweeping implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Sweeping.class);
  private static final Duration AFTER_A_FAULT = Duration.ofMinutes(5);

  private volatile @Nullable Thread thread;

  /** Begins; called once. */
  void start(Sweeper sweeper) {
    thread = Thread.ofVirtual().name("firstclaim-sweeper").start(() -> run(sweeper));
  }

  private static void run(Sweeper sweeper) {
    try {
      while (true) {
        Thread.sleep(sweep(sweeper));
      }
    } catch (InterruptedException e) {
      LOG.debug("Sweeps no more");
    }
  }

  /** Sweeps if it is due; returns when to look again. Nothing that goes wrong ends the sweeping. */
  private static Duration sweep(Sweeper sweeper) throws InterruptedException {
    try {
      return sweeper.sweep();
    } catch (RuntimeException e) {
      LOG.warn("Not swept; tried again in {}: {}", AFTER_A_FAULT, e.getMessage());
      return AFTER_A_FAULT;
    }
  }

  @Override
  public void close() {
    Thread running = thread;
    if (running != null) {
      running.interrupt();
    }
  }
}
