package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.processor.engine.SideClients;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.service.acts.ActLog;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.NotWrittenException;
import io.firstclaim.processor.service.redrive.Job.State;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This instance's work on the redrives of its application: looks which of those in the book are to
 * be worked on here, and has each run on a thread of its own as long as it has its mutex. Those
 * that begin here are worked on at once, another one once nothing was heard of it for ten seconds.
 * Thread-safe.
 */
final class Worker implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);
  private static final Duration LOOK_EVERY = Duration.ofMillis(200);
  private static final Duration SILENT = Duration.ofSeconds(10);
  private static final Duration CLOSED_WITHIN = Duration.ofSeconds(3);

  private final EngineSettings settings;
  private final SideClients clients;
  private final Supplier<Optional<ClaimStore>> claims;
  private final ClaimOperations operations;
  private final Letters letters;
  private final Predicate<RecordId> isDismissed;
  private final JobBook book;
  private final ActLog log;
  private final TimeSource time;
  private final Map<String, Sign> signs = new HashMap<>(); // of the looking thread
  private final Set<String> begunHere = ConcurrentHashMap.newKeySet();
  private final Map<String, Thread> runs = new ConcurrentHashMap<>();
  private final Thread looking;
  private volatile boolean closed;

  /** When a redrive was last heard of. */
  private record Sign(long beat, Moment at) {}

  Worker(
      EngineSettings settings,
      SideClients clients,
      Supplier<Optional<ClaimStore>> claims,
      ClaimOperations operations,
      Letters letters,
      Predicate<RecordId> isDismissed,
      JobBook book,
      ActLog log,
      TimeSource time) {
    this.settings = settings;
    this.clients = clients;
    this.claims = claims;
    this.operations = operations;
    this.letters = letters;
    this.isDismissed = isDismissed;
    this.book = book;
    this.log = log;
    this.time = time;
    this.looking = Thread.ofVirtual().name("firstclaim-redrives").unstarted(this::look);
  }

  /** Begins to look. */
  void start() {
    looking.start();
  }

  /** This redrive is begun or resumed here: once the book has it, it is worked on here. */
  void expect(String id) {
    begunHere.add(id);
  }

  private void look() {
    try {
      while (!closed) {
        time.sleep(LOOK_EVERY);
        for (Job job : book.all()) {
          if (job.state() == State.RUNNING && !runs.containsKey(job.id()) && isDue(job)) {
            runs.put(
                job.id(),
                Thread.ofVirtual().name("firstclaim-redrive").unstarted(() -> run(job.id())));
            runs.get(job.id()).start();
          }
        }
        signs.keySet().removeIf(id -> book.get(id).filter(job -> !job.isOver()).isEmpty());
      }
    } catch (InterruptedException e) {
      LOG.debug("No more redrives");
    }
  }

  /** Whether it was begun here, or nobody seems to work on it. */
  private boolean isDue(Job job) {
    Moment now = time.now();
    @Nullable Sign last = signs.get(job.id());
    if (last == null || last.beat() != job.beat()) {
      signs.put(job.id(), new Sign(job.beat(), now));
    }
    boolean isSilent =
        last != null && last.beat() == job.beat() && now.since(last.at()).compareTo(SILENT) >= 0;
    if (isSilent) {
      signs.put(job.id(), new Sign(job.beat(), now)); // asked for its mutex no more often
    }
    return begunHere.remove(job.id()) || isSilent;
  }

  private void run(String id) {
    try {
      work(id);
    } catch (InterruptedException e) {
      LOG.debug("Left redrive {}", id);
    } catch (NotWrittenException | StoreException | KafkaException e) {
      LOG.warn("Redrive {} is left for now: {}", id, OneLine.of(e));
    } catch (RuntimeException e) { // whatever it is, another run begins where this one was
      LOG.error("Redrive {} is left for now", id, e);
    } finally {
      runs.remove(id);
    }
  }

  private void work(String id) throws InterruptedException {
    Optional<ClaimStore> store = claims.get();
    if (store.isEmpty()) {
      return;
    }
    Mutex mutex = new Mutex(store.get(), new RedriveId(id).mutexId(), time);
    Optional<HeldMutex> mine = mutex.acquire(Duration.ZERO);
    if (mine.isEmpty()) {
      return;
    }
    try (HeldMutex held = mine.get()) {
      String instance = settings.claim().store().holder();
      // Heard here, everything that its last runner said was heard, too.
      log.tell(
          new ActMessage.RedriveTaken(id, held.token(), instance, time.now().wall().toString()));
      Optional<Job> job = book.get(id);
      if (job.isEmpty() || job.get().state() != State.RUNNING) {
        return;
      }
      LOG.info("Redrive {} goes on here, at {} of {}", id, job.get().read(), job.get().size());
      work(job.get(), held, instance);
    }
  }

  private void work(Job job, HeldMutex held, String instance) throws InterruptedException {
    Predicate<Job> isRunning = now -> now.state() == State.RUNNING;
    try (Letters.Reading reading = letters.read(job.spec().ranges(), job.range(), job.offset());
        Republisher republisher = new Republisher(clients.producer(), settings.application())) {
      new RedriveRun(
              job,
              letter -> letter.isOf(settings),
              isDismissed,
              operations,
              reading,
              republisher,
              () -> !closed && held.isHeld() && book.get(job.id()).filter(isRunning).isPresent(),
              new Teller(job, held.token(), instance, log, time),
              time)
          .run();
    }
    book.get(job.id())
        .ifPresent(now -> LOG.info("Redrive {}: {}, {}", now.id(), now.state(), now.counts()));
  }

  @Override
  public void close() {
    closed = true;
    looking.interrupt();
    runs.values().forEach(Thread::interrupt);
    try {
      for (Thread run : List.copyOf(runs.values())) {
        var _ = run.join(CLOSED_WITHIN);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
