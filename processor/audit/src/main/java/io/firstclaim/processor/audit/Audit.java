package io.firstclaim.processor.audit;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditAnswer;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.audit.api.AuditState;
import io.firstclaim.processor.audit.api.Coverage;
import io.firstclaim.processor.audit.api.Dead;
import io.firstclaim.processor.audit.api.Found;
import io.firstclaim.processor.audit.api.Listing;
import io.firstclaim.processor.audit.api.Minutes;
import io.firstclaim.processor.audit.api.StateFolder;
import io.firstclaim.processor.audit.api.Stuck;
import io.firstclaim.processor.audit.api.Violation;
import io.firstclaim.processor.audit.topology.OutcomesTopology;
import io.firstclaim.processor.audit.topology.Stores;
import io.firstclaim.processor.engine.api.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyQueryMetadata;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The audit of one instance: reads the outcomes topic, keeps what became of each record, and finds
 * what must not have happened. The instances of a zone share the topic's partitions; each zone
 * reads all of it, and needs nothing of the others.
 *
 * <p>Whatever befalls the audit, records are processed as before. It is started once and stopped
 * once. Thread-safe; questions never block for long.
 */
public final class Audit {
  private static final Logger LOG = LoggerFactory.getLogger(Audit.class);
  private static final Duration LOOKED_EVERY = Duration.ofSeconds(2);
  private static final Duration FAILURES_WITHIN = Duration.ofMinutes(10);
  private static final Duration CLOSED_WITHIN = Duration.ofSeconds(10);
  private static final int MAX_FAILURES = 10;
  private static final int MAX_COUNTED = 10_000;

  /** How many records of a list are looked at in one partition, for one page. */
  private static final int MAX_LOOKED_AT = 100_000;

  /** How many records are searched for one page, in all partitions of this instance. */
  private static final int MAX_SEARCHED = 10_000;

  private final AuditSettings settings;
  private final TimeSource time;
  private @Nullable Thread starter;
  private boolean over;
  private volatile AuditState before;
  private volatile @Nullable KafkaStreams streams;
  private volatile @Nullable String fault;
  private volatile Runnable listener = () -> {};
  private volatile int partitions;

  /** An audit that does not run yet. */
  public Audit(AuditSettings settings, TimeSource time) {
    this(settings, "the audit has not been started", time);
  }

  private Audit(AuditSettings settings, String off, TimeSource time) {
    this.settings = settings;
    this.time = time;
    this.before = new AuditState.Off(off);
  }

  /** An audit that is never started and says why. */
  public static Audit off(AuditSettings settings, String why, TimeSource time) {
    return new Audit(settings, why, time);
  }

  /**
   * Has this told whenever {@link #state()} may be another.
   *
   * @param told must not block; called by several threads
   */
  public void onChange(Runnable told) {
    listener = told;
  }

  /**
   * Begins to read outcomes; returns at once. What is in the way is told by {@link #state()} and
   * the log.
   *
   * @param store the identity of the lock store whose outcomes count
   * @throws IllegalStateException if it was started before
   */
  public synchronized void start(String store) {
    if (starter != null) {
      throw new IllegalStateException("an audit is started once: make another one");
    }
    StateFolder.inMemory(settings.directory())
        .ifPresent(
            what ->
                LOG.warn(
                    "firstclaim.audit.directory={}: {}; give a folder on a disk, as what is full ends"
                        + " the audit",
                    settings.directory(),
                    what));
    before = new AuditState.Starting("its topics");
    starter = Thread.ofPlatform().name("firstclaim-audit").daemon().unstarted(() -> run(store));
    if (!over) {
      starter.start();
    }
  }

  private void run(String store) {
    try {
      if (!settings.keepsState()) {
        LeftFolders.delete(settings.directory(), time);
      }
      Admin admin = Admin.create(StreamsConfiguration.clients(settings));
      try {
        run(store, admin);
      } finally {
        admin.close(Duration.ZERO);
      }
    } catch (InterruptedException e) {
      LOG.debug("Stopped while it started, or looked at its topics");
    } catch (RuntimeException | Error e) {
      // Such as a LinkageError where RocksDB has no library for this machine, or no memory left.
      fail(e);
    }
  }

  private void run(String store, Admin admin) throws InterruptedException {
    OutcomesPartitions topic = new OutcomesPartitions(settings, admin, time);
    awaitTopics(admin);
    OutcomesPartitions.Version version = topic.version();
    while (begin(store, version)) {
      version.leftBehind().ifPresent(this::sayWhatIsLeft);
      OutcomesPartitions.Version next = topic.versionAfter(version);
      end(version, next);
      version = next;
    }
  }

  private void awaitTopics(Admin admin) throws InterruptedException {
    ViolationsTopic topic = new ViolationsTopic(settings);
    Optional<String> obstacle = topic.ready(admin);
    while (obstacle.isPresent()) {
      before = new AuditState.Starting(OneLine.of(obstacle.get()));
      time.sleep(LOOKED_EVERY);
      obstacle = topic.ready(admin);
    }
  }

  /** Begins to read, and returns whether it did: not if the audit is to stop. */
  private synchronized boolean begin(String store, OutcomesPartitions.Version version) {
    if (over) {
      return false;
    }
    KafkaStreams made =
        new KafkaStreams(
            OutcomesTopology.of(settings, store, time, version.partitions()),
            StreamsConfiguration.of(settings, version.applicationId()));
    FewFailures failures = new FewFailures(MAX_FAILURES, FAILURES_WITHIN, time);
    made.setUncaughtExceptionHandler(thrown -> threadEnded(made, failures, thrown));
    made.setStateListener((_, _) -> listener.run());
    partitions = version.partitions();
    fault = null;
    streams = made;
    made.start();
    return true;
  }

  private void sayWhatIsLeft(String applicationId) {
    LOG.warn(
        "The state of the audit {} is of no use any more, as {} has other partitions now. Once each"
            + " instance of zone {} has gone over, delete it: {}",
        applicationId,
        settings.outcomesTopic(),
        settings.zone(),
        deletion(applicationId, settings.kafka().get("bootstrap.servers")));
    try {
      Utils.delete(settings.directory().resolve(applicationId).toFile());
    } catch (IOException e) {
      LOG.warn("Its folder in {} could not be deleted", settings.directory(), e);
    }
  }

  /**
   * The command that deletes the group and the topics of this application ID. It names each, as one
   * zone's name may be the beginning of another's; and the tool takes a name for a pattern.
   */
  static String deletion(String applicationId, @Nullable Object servers) {
    return "kafka-consumer-groups.sh --bootstrap-server %s --delete --group %s && kafka-topics.sh --bootstrap-server %s --delete --topic '%s'"
        .formatted(
            servers,
            applicationId,
            servers,
            String.join(",", OutcomesTopology.topics(applicationId)).replace(".", "\\."));
  }

  /**
   * Ends what runs: its topic has other partitions than its state, which serves for nothing now.
   */
  private synchronized void end(OutcomesPartitions.Version was, OutcomesPartitions.Version is) {
    KafkaStreams running = streams;
    if (over || running == null) {
      return;
    }
    LOG.warn(
        "{} has {} partitions now, and had {}: the audit begins anew, as {}, and reads it from its"
            + " beginning; records are not held up",
        settings.outcomesTopic(),
        is.partitions(),
        was.partitions(),
        is.applicationId());
    before = new AuditState.Starting("its state is built anew, as its topic has other partitions");
    streams = null;
    fault = null;
    listener.run();
    if (close(running, CLOSED_WITHIN)) {
      running.cleanUp();
    }
  }

  /**
   * A thread of the audit ended by itself: another takes over, unless that happens all the time.
   */
  private StreamThreadExceptionResponse threadEnded(
      KafkaStreams running, FewFailures failures, Throwable thrown) {
    if (failures.isOneMore()) {
      LOG.warn("The audit begins again where it committed last; records are not held up", thrown);
      return StreamThreadExceptionResponse.REPLACE_THREAD;
    }
    if (running.equals(streams)) {
      fail(thrown);
    }
    return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
  }

  private void fail(Throwable thrown) {
    fault = OneLine.of(String.valueOf(thrown), 500);
    LOG.error("There is no audit any more, records are processed without it: {}", fault, thrown);
    listener.run();
  }

  private static boolean close(KafkaStreams running, Duration limit) {
    boolean closed =
        running.close(
            CloseOptions.timeout(limit)
                .withGroupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
    if (!closed) {
      LOG.warn("The audit did not stop within {}", limit);
    }
    return closed;
  }

  /** Commits and leaves the group, within the limit; what is not done by then is done again. */
  public void stop(Duration limit) {
    KafkaStreams running;
    synchronized (this) {
      over = true;
      if (starter != null) {
        starter.interrupt();
      }
      running = streams;
      if (starter != null) {
        before = new AuditState.Off("the audit has been stopped");
      }
    }
    listener.run();
    if (running != null && close(running, limit) && !settings.keepsState()) {
      running.cleanUp();
    }
  }

  /** What the audit is doing now. */
  public AuditState state() {
    String failed = fault;
    if (failed != null) {
      return new AuditState.Broken(failed);
    }
    KafkaStreams running = streams;
    if (running == null) {
      return before;
    }
    return switch (running.state()) {
      case RUNNING -> new AuditState.Running();
      case CREATED, REBALANCING ->
          new AuditState.Starting("its partitions are handed out, or their state restored");
      case PENDING_SHUTDOWN, NOT_RUNNING -> new AuditState.Off("the audit has been stopped");
      case PENDING_ERROR, ERROR -> new AuditState.Broken("its threads have ended");
    };
  }

  /**
   * What became of a record: its outcomes, oldest first, none if there are none within the
   * retention. Of many, some of those that failed are left out; long causes are cut.
   */
  public AuditAnswer<List<Outcome>> history(RecordId id) {
    return ask(
        running -> {
          KeyQueryMetadata where =
              running.queryMetadataForKey(Stores.RECORDS, id.bytes(), new ByteArraySerializer());
          if (KeyQueryMetadata.NOT_AVAILABLE.equals(where)) {
            return new AuditAnswer.NotNow<>("partitions are being handed out");
          }
          Address keeper = new Address(where.activeHost().host(), where.activeHost().port());
          if (!keeper.equals(settings.address())) {
            return new AuditAnswer.Elsewhere<>(keeper);
          }
          return new AuditAnswer.Here<>(
              Stores.history(
                  Queries.windows(running, Stores.RECORDS, where.partition()),
                  id,
                  time.now().wall(),
                  settings.retention()));
        });
  }

  /**
   * Records that were begun and have not been settled for too long: by TAKEN_OVER, FAILED,
   * LEASE_LOST or BLOCKED, without an end since.
   *
   * @param limit how many at most
   * @param after where the page before ended
   */
  public AuditAnswer<Listing<Stuck>> stuck(int limit, Optional<RecordId> after) {
    Instant begun = time.now().wall().minus(settings.stuckAfter());
    return page(Stores.OPEN, (id, value) -> Stores.stuck(id, value, begun), limit, after);
  }

  /** Records that were given up, and of which nothing has become since. */
  public AuditAnswer<Listing<Dead>> dead(int limit, Optional<RecordId> after) {
    return dead(_ -> true, limit, after);
  }

  /**
   * The dead records that somebody wants to see.
   *
   * @param wanted says which; must not block
   */
  public AuditAnswer<Listing<Dead>> dead(
      Predicate<? super Dead> wanted, int limit, Optional<RecordId> after) {
    return page(Stores.DEAD, (id, value) -> Stores.dead(id, value).filter(wanted), limit, after);
  }

  /** What must not have happened: the latest of each record. */
  public AuditAnswer<Listing<Violation>> violations(int limit, Optional<RecordId> after) {
    return page(Stores.VIOLATIONS, Stores::violation, limit, after);
  }

  private <T> AuditAnswer<Listing<T>> page(
      String store,
      BiFunction<RecordId, byte[], Optional<T>> reader,
      int limit,
      Optional<RecordId> after) {
    Instant now = time.now().wall();
    return ask(
        running ->
            new AuditAnswer.Here<>(
                Queries.page(
                    Queries.list(running, store),
                    coverage(running),
                    (id, value) ->
                        Stores.isKept(value, now, settings.retention())
                            ? reader.apply(id, value)
                            : Optional.empty(),
                    MAX_LOOKED_AT,
                    limit,
                    after)));
  }

  /**
   * Records whose history has what somebody looks for, by ID: some thousands are looked at, and a
   * page may have no items and yet a next one.
   *
   * @param prefix what their IDs begin with; these are found without looking at others
   * @param wanted says which outcomes are looked for; must not block
   */
  public AuditAnswer<Listing<Found>> search(
      byte[] prefix, Predicate<? super Outcome> wanted, int limit, Optional<RecordId> after) {
    return ask(
        running -> {
          Coverage coverage = coverage(running);
          List<Instant> buckets = Stores.buckets(time.now().wall(), settings.retention());
          return new AuditAnswer.Here<>(
              Queries.page(
                  Queries.records(running, buckets, prefix),
                  coverage,
                  (id, value) ->
                      Stores.latest(value, wanted).map(outcome -> new Found(id, outcome)),
                  MAX_SEARCHED / Math.max(1, coverage.own().size()),
                  limit,
                  after));
        });
  }

  private Coverage coverage(KafkaStreams running) {
    return Queries.coverage(running, settings, partitions);
  }

  /**
   * What each zone did in each minute, of the last week at most.
   *
   * @param from the first minute's beginning
   * @param to the last minute's
   */
  public AuditAnswer<Minutes> minutes(Instant from, Instant to) {
    return ask(
        running ->
            new AuditAnswer.Here<>(
                new Minutes(Queries.minutes(running, from, to), coverage(running))));
  }

  /**
   * How many records have a violation, in this instance's partitions; 10,000 at most. Empty while
   * that is not known.
   */
  public OptionalLong violations() {
    return count(() -> violations(MAX_COUNTED, Optional.empty()));
  }

  /**
   * How many records are stuck, in this instance's partitions; 10,000 at most. Empty while that is
   * not known.
   */
  public OptionalLong stuck() {
    return count(() -> stuck(MAX_COUNTED, Optional.empty()));
  }

  private OptionalLong count(Supplier<AuditAnswer<? extends Listing<?>>> list) {
    return state() instanceof AuditState.Running
            && list.get() instanceof AuditAnswer.Here<? extends Listing<?>>(var page)
        ? OptionalLong.of(page.items().size())
        : OptionalLong.empty();
  }

  /** A question to the running streams. */
  @FunctionalInterface
  private interface Question<T> {
    AuditAnswer<T> ask(KafkaStreams running);
  }

  private <T> AuditAnswer<T> ask(Question<T> question) {
    KafkaStreams running = streams;
    if (running == null) {
      return new AuditAnswer.NotNow<>(why(state()));
    }
    try {
      return question.ask(running);
    } catch (InvalidStateStoreException | IllegalStateException e) {
      // Its partition moves, or its state is being restored: that nothing is found says nothing.
      return new AuditAnswer.NotNow<>(
          state() instanceof AuditState.Running ? OneLine.of(e) : why(state()));
    }
  }

  private static String why(AuditState state) {
    return switch (state) {
      case AuditState.Off(String why) -> why;
      case AuditState.Starting(String waitsFor) -> "the audit starts: " + waitsFor;
      case AuditState.Running _ -> "the audit has just begun";
      case AuditState.Broken(String failed) -> "the audit has failed: " + failed;
    };
  }
}
