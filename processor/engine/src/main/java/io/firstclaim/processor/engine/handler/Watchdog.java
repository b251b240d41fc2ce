package io.firstclaim.processor.engine.handler;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says whether records can still be processed, or only a restart helps: whether virtual threads
 * run, and whether handlers that ignore their interrupt leave enough permits. Looks every second on
 * a platform thread of its own, which nothing that a handler does can hold up. Thread-safe.
 */
public final class Watchdog {
  private static final Logger LOG = LoggerFactory.getLogger(Watchdog.class);
  private static final Duration LOOKS_EVERY = Duration.ofSeconds(1);

  /**
   * How many looks a virtual thread may take to run. Looks are counted and not seconds, as a
   * process that was suspended has done neither.
   */
  static final int PATIENCE = 10;

  private final int limit;
  private final IntSupplier abandoned;
  private final Executor virtualThreads;
  private final Thread thread;
  private volatile boolean beaten = true;

  /** Whether a virtual thread was started since the last that has run. */
  private boolean started;

  private final AtomicInteger missed = new AtomicInteger();
  private @Nullable String told;

  /**
   * A watchdog that sleeps.
   *
   * @param limit how many records may be in flight
   * @param abandoned how many of these permits abandoned handlers keep
   */
  public Watchdog(int limit, IntSupplier abandoned) {
    this(limit, abandoned, Thread::startVirtualThread);
  }

  Watchdog(int limit, IntSupplier abandoned, Executor virtualThreads) {
    this.limit = limit;
    this.abandoned = abandoned;
    this.virtualThreads = virtualThreads;
    this.thread =
        Thread.ofPlatform().daemon().name("firstclaim-watchdog").unstarted(this::keepLooking);
  }

  public void start() {
    thread.start();
  }

  /** Ends the watch. */
  public void stop() {
    thread.interrupt();
  }

  /** Why the process should be restarted, in one line; null if it need not be. */
  public @Nullable String fault() {
    int looks = missed.get();
    if (looks >= PATIENCE) {
      return "no virtual thread has run for %d s: something occupies all of their carriers; a thread dump shows what"
          .formatted(looks);
    }
    int lost = abandoned.getAsInt();
    return 2 * lost > limit
        ? "%d of %d permits to be in flight are lost to handlers that ignore being interrupted: have them end when they are"
            .formatted(lost, limit)
        : null;
  }

  private void keepLooking() {
    try {
      while (true) {
        lookWhateverHappens();
        Thread.sleep(LOOKS_EVERY); // after a look that failed, too: looks are counted as seconds
      }
    } catch (InterruptedException e) {
      LOG.debug("Told to stop");
    }
  }

  private void lookWhateverHappens() {
    try {
      look();
    } catch (RuntimeException | Error e) { // such as no memory left: the next look may be better
      logFailure(e);
    }
  }

  private static void logFailure(Throwable failure) {
    try {
      LOG.error("The watchdog failed, trying again", failure);
    } catch (RuntimeException | Error e) {
      // The watch must go on even where nothing can be logged.
    }
  }

  void look() {
    if (beaten) {
      missed.set(0);
      beaten = false;
      started = false;
    } else {
      missed.incrementAndGet();
    }
    if (!started) {
      virtualThreads.execute(() -> beaten = true);
      started = true;
    }
    tell(fault());
  }

  private void tell(@Nullable String fault) {
    if (fault == null && told != null) {
      LOG.info("Records can be processed again");
    } else if (fault != null && told == null) {
      LOG.error("Only a restart helps: {}", fault);
    }
    told = fault;
  }
}
