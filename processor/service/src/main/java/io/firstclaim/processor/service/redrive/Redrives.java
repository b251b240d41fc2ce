package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimState;
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
import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.service.acts.ActLog;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.ActMessage.Command;
import io.firstclaim.processor.service.acts.ActMessage.End;
import io.firstclaim.processor.service.acts.Dismissals;
import io.firstclaim.processor.service.acts.NotWrittenException;
import io.firstclaim.processor.service.acts.Range;
import io.firstclaim.processor.service.acts.RedriveCounts;
import io.firstclaim.processor.service.acts.RedriveSpec;
import io.firstclaim.processor.service.redrive.Job.State;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The redrives of an application, as every instance sees them, and this instance's work on them.
 * What a redrive is, how far it is and what it was told is on the topic of acts. Its work is done
 * by whichever instance has its mutex in the lock store; another that has heard nothing of a
 * running one for ten seconds tries to get it, and goes on. Thread-safe.
 */
public final class Redrives implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Redrives.class);
  private static final Duration LOOK_EVERY = Duration.ofMillis(200);
  private static final Duration SILENT = Duration.ofSeconds(10);
  private static final Duration HEARD_WITHIN = Duration.ofSeconds(10);
  private static final Duration TELL_EVERY = Duration.ofSeconds(1);
  private static final Duration BEAT_EVERY = Duration.ofSeconds(3);
  private static final Duration PUBLISHED_WITHIN = Duration.ofSeconds(35);
  private static final Duration CLOSED_WITHIN = Duration.ofSeconds(3);

  /** A dead letter is written before its claim says so, by another clock. */
  private static final Duration WRITTEN_BEFORE = Duration.ofMinutes(15);

  /** No record has such an ID: the engine keeps the prefix for itself. */
  private static final String MUTEX = "mismatch:redrive:";

  private final EngineSettings settings;
  private final Supplier<Optional<ClaimStore>> claims;
  private final ClaimOperations operations;
  private final SideClients clients;
  private final Letters letters;
  private final Dismissals dismissals;
  private final TimeSource time;
  private final JobBook book = new JobBook();
  private final ActLog log;
  private final Map<String, Sign> signs = new HashMap<>(); // of the looking thread
  private final Set<String> begunHere = ConcurrentHashMap.newKeySet();
  private final Map<String, Thread> runs = new ConcurrentHashMap<>();
  private final Thread looking;
  private volatile boolean closed;

  /** When a redrive was last heard of. */
  private record Sign(long beat, Moment at) {}

  /**
   * Redrives that nobody works on yet.
   *
   * @param claims empty until there is a store
   * @param operations of the same store
   * @param dismissals told by the same log of acts
   */
  public Redrives(
      EngineSettings settings,
      SideClients clients,
      Supplier<Optional<ClaimStore>> claims,
      ClaimOperations operations,
      Dismissals dismissals,
      TimeSource time) {
    this.settings = settings;
    this.claims = claims;
    this.operations = operations;
    this.clients = clients;
    this.letters = new KafkaLetters(clients);
    this.dismissals = dismissals;
    this.time = time;
    this.log = new ActLog(clients, settings.application(), this::hear);
    this.looking = Thread.ofVirtual().name("firstclaim-redrives").unstarted(this::look);
  }

  private void hear(ActMessage message) {
    book.hear(message);
    dismissals.hear(message);
  }

  /** Begins to read what was told, and to work. */
  public void start() {
    log.start();
    looking.start();
  }

  /** Where acts are written. */
  public ActLog log() {
    return log;
  }

  /** A redrive, if it is known here. */
  public Optional<Job> get(String id) {
    return book.get(id);
  }

  /** All redrives that are not over, and the last that are; the oldest first. */
  public List<Job> all() {
    return book.all();
  }

  /** The dead-letter topics of these input topics. */
  private Collection<String> letterTopics(Collection<String> inputs) {
    Collection<String> topics = new TreeSet<>();
    inputs.forEach(input -> topics.add(settings.deadLetterTopicOf(input)));
    return topics;
  }

  /**
   * What a redrive with this filter would read, as the topics stand now.
   *
   * @throws KafkaException if they cannot be asked
   */
  public RedriveSpec freeze(RedriveSpec filter) {
    @Nullable String topic = filter.topic();
    @Nullable Instant since = filter.since() == null ? null : Instant.parse(filter.since());
    return with(
        filter,
        letters.ranges(
            letterTopics(topic == null ? settings.input().topics() : List.of(topic)), since));
  }

  /**
   * The same for one record, which died then: first where its letter should be, then everywhere.
   *
   * @throws KafkaException if they cannot be asked
   */
  public RedriveSpec freeze(RecordId record, Instant died) {
    Collection<String> topics = letterTopics(settings.input().topics());
    List<Range> likely = letters.ranges(topics, died.minus(WRITTEN_BEFORE));
    List<Range> ranges = new ArrayList<>(likely);
    for (Range all : letters.ranges(topics, null)) {
      long to =
          likely.stream()
              .filter(each -> each.topic().equals(all.topic()))
              .filter(each -> each.partition() == all.partition())
              .mapToLong(Range::from)
              .findFirst()
              .orElse(all.to());
      if (all.from() < to) {
        ranges.add(new Range(all.topic(), all.partition(), all.from(), to));
      }
    }
    return new RedriveSpec(null, record.text(), null, null, null, 1, 1_000, ranges);
  }

  private static RedriveSpec with(RedriveSpec spec, List<Range> ranges) {
    return new RedriveSpec(
        spec.topic(),
        spec.record(),
        spec.cause(),
        spec.since(),
        spec.until(),
        spec.limit(),
        spec.rate(),
        ranges);
  }

  /** Looks through what a redrive would take, without changing anything. */
  public DryRun tryOut(RedriveSpec frozen) {
    try (Letters.Reading reading = reading(frozen, 0, first(frozen))) {
      return DryRun.of(
          new LetterFilter(frozen),
          letter -> isOurs(letter) && !isDismissed(letter.id()),
          reading,
          time);
    }
  }

  private static long first(RedriveSpec spec) {
    return spec.ranges().isEmpty() ? 0 : spec.ranges().getFirst().from();
  }

  private Letters.Reading reading(RedriveSpec spec, int range, long offset) {
    return letters.read(spec.ranges(), range, offset);
  }

  private boolean isOurs(DeadLetter letter) {
    return letter.isOf(settings);
  }

  /** Whether an operator wants to see no more of the end that this record has now. */
  private boolean isDismissed(RecordId record) {
    return dismissals.of(record).isPresent()
        && operations
            .find(record)
            .filter(claim -> claim.state() instanceof ClaimState.Dead)
            .filter(claim -> dismissals.have(record, claim.token()))
            .isPresent();
  }

  /**
   * Begins a redrive, unless there is one of this ID; returns the one that there is then, which may
   * ask for something else.
   *
   * @throws NotWrittenException if it could not be begun
   */
  public Job begin(RedriveId id, RedriveSpec frozen, String by, String reason)
      throws InterruptedException {
    Optional<Job> known = book.get(id.text());
    if (known.isPresent()) {
      return known.get();
    }
    begunHere.add(id.text());
    log.tell(new ActMessage.RedriveBegun(id.text(), frozen, by, reason, now()));
    return book.get(id.text()).orElseThrow();
  }

  /**
   * Tells a redrive something, if its state allows that; returns it as it is then.
   *
   * @throws NotWrittenException if it could not be told
   */
  public Job tell(Job job, Command command, String by, String reason) throws InterruptedException {
    if (command == Command.RESUME) {
      begunHere.add(job.id());
    }
    log.tell(new ActMessage.RedriveTold(job.id(), command, by, reason, now()));
    return book.get(job.id()).orElse(job);
  }

  /** Whether a redrive can be told this now. */
  public static boolean allows(Job job, Command command) {
    return JobBook.allows(job, command);
  }

  /** Waits until this redrive has moved a record or will not; false if it takes longer. */
  public boolean awaitMoved(String id, Duration limit) throws InterruptedException {
    Moment start = time.now();
    while (book.get(id).filter(Redrives::hasMoved).isEmpty()) {
      if (time.now().since(start).compareTo(limit) > 0) {
        return false;
      }
      time.sleep(Duration.ofMillis(20));
    }
    return true;
  }

  private static boolean hasMoved(Job job) {
    return job.isOver() || job.counts().moved() + job.counts().failed() + job.underWay() > 0;
  }

  private String now() {
    return time.now().wall().toString();
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
    Mutex mutex = new Mutex(store.get(), RecordId.of(MUTEX + id), time);
    Optional<HeldMutex> mine = mutex.acquire(Duration.ZERO);
    if (mine.isEmpty()) {
      return;
    }
    try (HeldMutex held = mine.get()) {
      String instance = settings.claim().store().holder();
      // Heard here, everything that its last runner said was heard, too.
      log.tell(new ActMessage.RedriveTaken(id, held.token(), instance, now()));
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
    try (Letters.Reading reading = reading(job.spec(), job.range(), job.offset());
        Producer<byte[], byte[]> producer = clients.producer()) {
      new RedriveRun(
              job,
              this::isOurs,
              this::isDismissed,
              operations,
              reading,
              (letter, by) -> publish(producer, letter, by),
              () -> !closed && held.isHeld() && book.get(job.id()).filter(isRunning).isPresent(),
              new Teller(job, held.token(), instance),
              time)
          .run();
    }
    book.get(job.id())
        .ifPresent(now -> LOG.info("Redrive {}: {}, {}", now.id(), now.state(), now.counts()));
  }

  private void publish(Producer<byte[], byte[]> producer, DeadLetter letter, RedriveId by)
      throws InterruptedException {
    try {
      var _ =
          producer
              .send(letter.again(settings.application(), by))
              .get(PUBLISHED_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RecordTooLargeException tooLarge) {
        throw new UnpublishableException("too large for topic " + letter.topic(), tooLarge);
      }
      throw new KafkaException(
          "topic %s: %s".formatted(letter.topic(), e.getCause()), e.getCause());
    } catch (TimeoutException e) {
      throw new KafkaException("topic %s does not answer".formatted(letter.topic()), e);
    } catch (IllegalArgumentException e) { // the topic has fewer partitions than it had
      throw new UnpublishableException("topic %s: %s".formatted(letter.topic(), e.getMessage()), e);
    }
  }

  /** Writes progress down, but not each step of it; for one thread. */
  private final class Teller implements RedriveRun.Report {
    private final Job job;
    private final long token;
    private final String instance;
    private Moment lastTold = time.now();
    private ActMessage.@Nullable RedriveProgress last;

    private Teller(Job job, long token, String instance) {
      this.job = job;
      this.token = token;
      this.instance = instance;
    }

    @Override
    public void progress(
        int range,
        long offset,
        RedriveCounts counts,
        int underWay,
        @Nullable String note,
        @Nullable End end) {
      var progress =
          new ActMessage.RedriveProgress(
              job.id(), token, instance, "", range, offset, counts, underWay, note, end);
      Duration since = time.now().since(lastTold);
      boolean isFirstMove = underWay > 0 && (last == null || last.underWay() == 0);
      boolean isNews = !progress.equals(last);
      if (end != null
          || isFirstMove
          || (isNews && since.compareTo(TELL_EVERY) >= 0)
          || since.compareTo(BEAT_EVERY) >= 0) {
        write(progress);
      }
    }

    private void write(ActMessage.RedriveProgress progress) {
      try {
        var at = now();
        long offset =
            log.write(
                new ActMessage.RedriveProgress(
                    progress.id(),
                    progress.token(),
                    progress.instance(),
                    at,
                    progress.range(),
                    progress.offset(),
                    progress.counts(),
                    progress.underWay(),
                    progress.note(),
                    progress.end()));
        last = progress;
        lastTold = time.now();
        if (progress.end() != null) {
          var _ = log.awaitHeard(offset, HEARD_WITHIN);
        }
      } catch (NotWrittenException e) {
        // Told with the next; whoever goes on repeats what was not told, which does no harm.
        LOG.debug("Progress of redrive {} was not written: {}", job.id(), e.getMessage());
        lastTold = time.now();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
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
    log.close();
  }
}
