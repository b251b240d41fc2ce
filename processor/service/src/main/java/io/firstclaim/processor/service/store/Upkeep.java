package io.firstclaim.processor.service.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does chores again and again, each on a thread of its own, until it is closed. Thread-safe. */
public final class Upkeep implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Upkeep.class);
  private static final Duration AFTER_A_FAULT = Duration.ofMinutes(5);

  private final List<Thread> threads = new CopyOnWriteArrayList<>();
  private volatile boolean closed;

  /** Something to do again and again. */
  @FunctionalInterface
  public interface Chore {
    /** Does it, if it is due; returns when to do it again. */
    Duration run() throws InterruptedException;
  }

  /** Starts a chore. */
  public void start(String name, Chore chore) {
    threads.add(Thread.ofVirtual().name("firstclaim-" + name).start(() -> repeat(name, chore)));
  }

  private void repeat(String name, Chore chore) {
    try {
      while (true) {
        Thread.sleep(once(name, chore));
      }
    } catch (InterruptedException e) {
      LOG.debug("No more {}", name);
    }
  }

  /** Nothing that goes wrong ends a chore, unless this is closed: then what it uses may be, too. */
  Duration once(String name, Chore chore) throws InterruptedException {
    try {
      return chore.run();
    } catch (RuntimeException e) {
      if (closed) {
        throw (InterruptedException) new InterruptedException("closed").initCause(e);
      }
      LOG.warn("No {}; tried again in {}: {}", name, AFTER_A_FAULT, e.getMessage());
      return AFTER_A_FAULT;
    } catch (Error e) {
      LOG.error("No {}; tried again in {}", name, AFTER_A_FAULT, e);
      return AFTER_A_FAULT;
    }
  }

  @Override
  public void close() {
    closed = true;
    threads.forEach(Thread::interrupt);
  }
}
