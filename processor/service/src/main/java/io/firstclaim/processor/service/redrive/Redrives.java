package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.SideClients;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.service.acts.ActLog;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.ActMessage.Command;
import io.firstclaim.processor.service.acts.Dismissals;
import io.firstclaim.processor.service.acts.NotWrittenException;
import io.firstclaim.processor.service.acts.Range;
import io.firstclaim.processor.service.acts.RedriveSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * The redrives of an application, as every instance sees them: what may be asked and told. What a
 * redrive is, how far it is and what it was told is on the topic of acts. Its work is done by
 * whichever instance has its mutex in the lock store; another that has heard nothing of a running
 * one for ten seconds tries to get it, and goes on. Thread-safe.
 */
public final class Redrives implements AutoCloseable {
  /** A dead letter is written before its claim says so, by another clock. */
  private static final Duration WRITTEN_BEFORE = Duration.ofMinutes(15);

  private final EngineSettings settings;
  private final ClaimOperations operations;
  private final Letters letters;
  private final Dismissals dismissals;
  private final TimeSource time;
  private final JobBook book = new JobBook();
  private final ActLog log;
  private final Worker worker;

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
    this.operations = operations;
    this.letters = new KafkaLetters(clients);
    this.dismissals = dismissals;
    this.time = time;
    this.log = new ActLog(clients, settings.application(), this::hear);
    this.worker =
        new Worker(
            settings, clients, claims, operations, letters, this::isDismissed, book, log, time);
  }

  private void hear(ActMessage message) {
    book.hear(message);
    dismissals.hear(message);
  }

  /** Begins to read what was told, and to work. */
  public void start() {
    log.start();
    worker.start();
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
    try (Letters.Reading reading = letters.read(frozen.ranges(), 0, first(frozen))) {
      return DryRun.of(
          new LetterFilter(frozen),
          letter -> letter.isOf(settings) && !isDismissed(letter.id()),
          reading,
          time);
    }
  }

  private static long first(RedriveSpec spec) {
    return spec.ranges().isEmpty() ? 0 : spec.ranges().getFirst().from();
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
    worker.expect(id.text());
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
      worker.expect(job.id());
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

  @Override
  public void close() {
    worker.close();
    log.close();
  }
}
