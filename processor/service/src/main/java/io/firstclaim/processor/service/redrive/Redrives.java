package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.processor.engine.SideClients;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.service.acts.ActLog;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.ActMessage.Command;
import io.firstclaim.processor.service.acts.Dismissals;
import io.firstclaim.processor.service.acts.Dismissals.Dismissal;
import io.firstclaim.processor.service.acts.NotWrittenException;
import io.firstclaim.processor.service.acts.RedriveSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;

/**
 * The redrives of an application, as every instance sees them: what may be asked and told. What a
 * redrive is, how far it is and what it was told is on the topic of acts. Its work is done by
 * whichever instance has its mutex in the lock store; another that has heard nothing of a running
 * one for ten seconds tries to get it, and goes on. Thread-safe.
 */
public final class Redrives implements AutoCloseable {
  private final EngineSettings settings;
  private final ClaimOperations operations;
  private final Letters letters;
  private final Freezer freezer;
  private final Dismissals dismissals;
  private final Consumer<ActMessage> others;
  private final TimeSource time;
  private final JobBook book = new JobBook();
  private final ActLog log;
  private final RedriveScheduler scheduler;

  /**
   * Redrives that nobody works on yet.
   *
   * @param claims empty until there is a store
   * @param operations of the same store
   * @param dismissals told by the same log of acts
   * @param others are told it too
   */
  public Redrives(
      EngineSettings settings,
      SideClients clients,
      Supplier<Optional<ClaimStore>> claims,
      ClaimOperations operations,
      Dismissals dismissals,
      Consumer<ActMessage> others,
      TimeSource time) {
    this.settings = settings;
    this.operations = operations;
    this.letters = new KafkaLetters(clients);
    this.freezer = new Freezer(settings, letters);
    this.dismissals = dismissals;
    this.others = others;
    this.time = time;
    this.log = new ActLog(clients, settings.application(), this::hear, time);
    RedriveRunner runner =
        new RedriveRunner(
            new RedriveMutex(claims, time),
            letters,
            job -> steps(job, clients),
            book,
            log,
            settings.claim().store().holder(),
            time);
    this.scheduler = new RedriveScheduler(book, runner, time);
  }

  private LetterSteps steps(Job job, SideClients clients) {
    return new LetterSteps(
        job,
        letter -> letter.isOf(settings),
        this::isDismissed,
        operations,
        new Republisher(clients.producer(), settings.application()));
  }

  private void hear(ActMessage message) {
    book.hear(message);
    dismissals.hear(message);
    others.accept(message);
  }

  /** Begins to read what was told, and to work. */
  public void start() {
    log.start();
    scheduler.start();
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

  /**
   * What a redrive with this filter would read, as the topics stand now.
   *
   * @throws KafkaException if they cannot be asked
   */
  public RedriveSpec freeze(RedriveSpec filter) {
    return freezer.freeze(filter);
  }

  /**
   * What a redrive of records that are named would read, the first of which died then.
   *
   * @throws KafkaException if they cannot be asked
   */
  public RedriveSpec freeze(RedriveSpec named, Instant died) {
    return freezer.freeze(named, died);
  }

  /**
   * Looks through what a redrive would take, without changing anything.
   *
   * @throws KafkaException if its topics cannot be read
   */
  public DryRun tryOut(RedriveSpec frozen) {
    try (Letters.Reading reading = letters.read(frozen.ranges(), Position.start(frozen.ranges()))) {
      return DryRun.of(
          new FrozenSet(frozen),
          letter -> letter.isOf(settings) && (frozen.namesRecords() || !isDismissed(letter.id())),
          reading,
          time);
    }
  }

  /** Whether an operator wants to see no more of the end that this record has now. */
  private boolean isDismissed(RecordId record) {
    try {
      Optional<Dismissal> last = dismissals.of(record);
      return last.isPresent() && operations.find(record).filter(last.get()::isOf).isPresent();
    } catch (UnreadableClaimException e) {
      return false; // the claim cannot be read, so how the record ended is not known
    }
  }

  /** What came of beginning a redrive. */
  public sealed interface BeginResult {
    /** The redrive of that ID. */
    Job job();

    /** It has begun, now or when the same was asked for before. */
    record Begun(Job job) implements BeginResult {}

    /** There is one of that ID, and it is for something else. */
    record IdTaken(Job job) implements BeginResult {}
  }

  /**
   * Begins a redrive, unless there is one of this ID.
   *
   * @throws NotWrittenException if it could not be begun
   */
  public BeginResult begin(RedriveId id, RedriveSpec frozen, String by, String reason)
      throws InterruptedException {
    if (book.get(id.text()).isEmpty()) {
      scheduler.expect(id.text());
      log.tell(new ActMessage.RedriveBegun(id.text(), frozen, by, reason, now()));
    }
    Job job = book.get(id.text()).orElseThrow();
    return job.spec().asksFor(frozen) ? new BeginResult.Begun(job) : new BeginResult.IdTaken(job);
  }

  /**
   * Tells a redrive something, if its state allows that; returns it as it is then.
   *
   * @throws NotWrittenException if it could not be told
   */
  public Job tell(Job job, Command command, String by, String reason) throws InterruptedException {
    if (command == Command.RESUME) {
      scheduler.expect(job.id());
    }
    log.tell(new ActMessage.RedriveTold(job.id(), command, by, reason, now()));
    return book.get(job.id()).orElse(job);
  }

  /** Whether a redrive can be told this now. */
  public static boolean allows(Job job, Command command) {
    return JobBook.allows(job, command);
  }

  /** What a redrive of one record has come to. */
  public sealed interface RepublishResult {
    /** Its record was freed and published again. */
    record Republished() implements RepublishResult {}

    /** It was not, and will not be; the reason is for people. */
    record NotRepublished(String why) implements RepublishResult {}

    /** That is not known yet. */
    record NotKnownYet() implements RepublishResult {}
  }

  /** Waits until this redrive has moved its record, or will not, but no longer than this. */
  public RepublishResult awaitMoved(String id, Duration limit) throws InterruptedException {
    Moment start = time.now();
    RepublishResult result = moved(id);
    while (result instanceof RepublishResult.NotKnownYet
        && time.now().since(start).compareTo(limit) <= 0) {
      time.sleep(Duration.ofMillis(20));
      result = moved(id);
    }
    return result;
  }

  private RepublishResult moved(String id) {
    Optional<Job> known = book.get(id);
    if (known.isEmpty()) {
      return new RepublishResult.NotKnownYet();
    }
    Job job = known.get();
    if (job.counts().failed() > 0) {
      return new RepublishResult.NotRepublished(
          Objects.requireNonNullElse(job.note(), "its topic does not take it any more")
              + "; it is dead as it was");
    }
    if (job.counts().moved() + job.underWay() > 0) {
      return new RepublishResult.Republished();
    }
    if (!job.isOver()) {
      return new RepublishResult.NotKnownYet();
    }
    return new RepublishResult.NotRepublished(
        job.counts().skipped().isEmpty()
            ? "no dead letter of it was found"
            : "its dead letter is passed over: " + job.counts().skipped().keySet());
  }

  private String now() {
    return time.now().wall().toString();
  }

  @Override
  public void close() {
    scheduler.close();
    log.close();
  }
}
