package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.service.redrive.Job.State;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that redrives are worked on: looks which of those in the book are to be run by this
 * instance, and has each run on a thread of its own, eight at a time. One that begins here is run
 * at once, another one once nothing was heard of it for ten seconds. Those for which there is no
 * room wait, the oldest first; nothing is heard of them, so an instance that has room begins them.
 * Thread-safe.
 */
final class RedriveScheduler implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RedriveScheduler.class);
  private static final Duration LOOK_EVERY = Duration.ofMillis(200);
  private static final Duration SILENT = Duration.ofSeconds(10);
  private static final Duration CLOSED_WITHIN = Duration.ofSeconds(3);

  /** Each has a consumer, a producer, and a mutex that is renewed. */
  private static final int MOST_RUNS = 8;

  private final JobBook book;
  private final Runner runner;
  private final TimeSource time;
  // Used by the looking thread alone.
  private final Map<String, Heartbeat> heartbeats = new HashMap<>();
  private final Set<String> begunHere = ConcurrentHashMap.newKeySet();
  private final Map<String, Thread> runs = new ConcurrentHashMap<>();
  private final Thread looking;
  private volatile boolean closed;

  /** The last beat of a redrive, and when it was seen first. */
  private record Heartbeat(long beat, Moment at) {}

  /** Works on redrives. */
  @FunctionalInterface
  interface Runner {
    /**
     * Works on this redrive until it is at its end or is not to run.
     *
     * @param mayGoOn whether this instance works on redrives at all
     */
    void run(String id, BooleanSupplier mayGoOn);
  }

  RedriveScheduler(JobBook book, Runner runner, TimeSource time) {
    this.book = book;
    this.runner = runner;
    this.time = time;
    this.looking = Thread.ofVirtual().name("firstclaim-redrives").unstarted(this::look);
  }

  /** Begins to look. */
  void start() {
    looking.start();
  }

  /** This redrive is begun or resumed here: once the book has it, it is run here. */
  void expect(String id) {
    begunHere.add(id);
  }

  private void look() {
    while (!closed) {
      try {
        time.sleep(LOOK_EVERY);
        runWhatIsDue();
      } catch (InterruptedException e) {
        LOG.debug("No more redrives");
        return;
      } catch (RuntimeException | Error e) { // such as no memory left: the next look may be better
        say(e);
      }
    }
  }

  private static void say(Throwable fault) {
    try {
      LOG.error("Looking for redrives failed, trying again", fault);
    } catch (RuntimeException | Error e) {
      // The next look comes even where nothing can be logged.
    }
  }

  private void runWhatIsDue() {
    for (Job job : book.all()) {
      // Where there is no room, it is not asked whether one is due: that it began here is
      // remembered until there is.
      if (job.state() == State.RUNNING
          && !runs.containsKey(job.id())
          && runs.size() < MOST_RUNS
          && isDue(job)) {
        run(job.id());
      }
    }
    heartbeats.keySet().removeIf(id -> book.get(id).filter(job -> !job.isOver()).isEmpty());
    begunHere.removeIf(id -> book.get(id).filter(Job::isOver).isPresent());
  }

  /** Whether its time has come, and it was begun here, or nobody seems to work on it. */
  private boolean isDue(Job job) {
    Moment now = time.now();
    if (job.notBefore().filter(now.wall()::isBefore).isPresent()) {
      return false;
    }
    @Nullable Heartbeat last = heartbeats.get(job.id());
    if (last == null || last.beat() != job.beat()) {
      heartbeats.put(job.id(), new Heartbeat(job.beat(), now));
      return begunHere.remove(job.id());
    }
    boolean isSilent = now.since(last.at()).compareTo(SILENT) >= 0;
    if (isSilent) { // counted anew, so that its mutex is asked for once in that time at most
      heartbeats.put(job.id(), new Heartbeat(job.beat(), now));
    }
    return begunHere.remove(job.id()) || isSilent;
  }

  private void run(String id) {
    Thread run =
        Thread.ofVirtual()
            .name("firstclaim-redrive")
            .unstarted(
                () -> {
                  try {
                    runner.run(id, () -> !closed);
                  } finally {
                    runs.remove(id);
                  }
                });
    runs.put(id, run);
    try {
      run.start();
    } catch (RuntimeException | Error e) { // or it would seem to be at work for ever
      runs.remove(id);
      throw e;
    }
  }

  @Override
  public void close() {
    closed = true;
    looking.interrupt();
    runs.values().forEach(Thread::interrupt);
    Moment start = time.now();
    try {
      for (Thread run : List.copyOf(runs.values())) {
        var _ = run.join(CLOSED_WITHIN.minus(time.now().since(start)));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
