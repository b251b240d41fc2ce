package io.firstclaim.processor.engine;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.Claiming;
import io.firstclaim.processor.engine.api.EngineSettings.Input;
import io.firstclaim.processor.engine.api.EngineSettings.OnMismatch;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.api.EngineSettings.Retrying;
import io.firstclaim.processor.engine.api.EngineSettings.Trust;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.engine.api.RecordIdSource;
import io.firstclaim.processor.engine.api.ResourceSource;
import io.firstclaim.processor.engine.handler.HandlerThreads;
import io.firstclaim.processor.handler.RecordHandler;
import io.opentelemetry.api.OpenTelemetry;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Collects the values and parts of an {@link Engine}. Zone, topics, record ID, bootstrap servers,
 * store and handler must be given; all else has a default. Nothing is checked before {@link
 * #build()}. Not thread-safe.
 */
public final class EngineBuilder {
  private String application = "firstclaim";
  private @Nullable String zone;
  private List<String> zones = List.of();
  private List<String> topics = List.of();
  private @Nullable String group;
  private List<RecordIdSource> recordId = List.of();
  private Ordering ordering = Ordering.UNORDERED;
  private int maxInFlight = 1000;
  private int maxParked = 10_000;
  private long maxBuffered = Input.suitableMaxBuffered();
  private @Nullable Duration replayHorizon;
  private @Nullable String namespace;
  private @Nullable String holder;
  private Duration lease = Duration.ofSeconds(30);
  private Duration maxSkew = Duration.ofSeconds(1);
  private Duration retention = Duration.ofDays(8);
  private boolean renew = true;
  private @Nullable Duration headStart;
  private OnMismatch onMismatch = OnMismatch.DEAD_LETTER;
  private List<ResourceSource> resources = List.of();
  private int maxAttempts = 5;
  private Duration backoff = Duration.ofSeconds(1);
  private Duration maxBackoff = Duration.ofMinutes(1);
  private Duration handlerTimeout = Duration.ofMinutes(5);
  private @Nullable String deadLetterTopic;
  private @Nullable String outcomesTopic;
  private boolean outcomes = true;
  private Trust outcomesTrust = Trust.TOPIC;
  private Duration shutdownGrace = Duration.ofSeconds(20);
  private final Map<String, Object> kafka = new HashMap<>();

  private @Nullable Function<? super ClaimSettings, ? extends ClaimStore> store;
  private @Nullable RecordHandler handler;
  private EngineListener listener = new EngineListener() {};
  private OpenTelemetry telemetry = OpenTelemetry.noop();
  private TimeSource time = TimeSource.system();
  private Consumer<? super Throwable> onDefect = _ -> {};

  EngineBuilder() {}

  EngineBuilder(EngineSettings given) {
    application = given.application();
    zone = given.zone();
    zones = given.zones();
    topics = given.input().topics();
    group = given.input().group();
    recordId = given.input().recordId();
    ordering = given.input().ordering();
    maxInFlight = given.input().maxInFlight();
    maxParked = given.input().maxParked();
    maxBuffered = given.input().maxBuffered();
    replayHorizon = given.input().replayHorizon().orElse(null);
    claims(given.claim().store());
    renew = given.claim().renew();
    headStart = given.claim().headStart().orElse(null);
    onMismatch = given.claim().onMismatch();
    resources = given.claim().resources();
    maxAttempts = given.retry().maxAttempts();
    backoff = given.retry().backoff();
    maxBackoff = given.retry().maxBackoff();
    handlerTimeout = given.handlerTimeout();
    deadLetterTopic = given.deadLetterTopic().orElse(null);
    outcomesTopic = given.outcomesTopic().orElse(null);
    outcomes = given.outcomesTopic().isPresent();
    outcomesTrust = given.outcomesTrust();
    shutdownGrace = given.shutdownGrace();
    kafka.putAll(given.kafka());
  }

  /** Names everything that two applications must not share; {@code firstclaim} by default. */
  public EngineBuilder application(String name) {
    this.application = name;
    return this;
  }

  /** This deployment's zone: 1 to 32 of a-z, 0-9 and -. Required. */
  public EngineBuilder zone(String name) {
    this.zone = name;
    return this;
  }

  /** All zones; with them, each record has a preferred zone. By default none has. */
  public EngineBuilder zones(List<String> names) {
    this.zones = names;
    return this;
  }

  /** The input topics. Required. */
  public EngineBuilder topics(String... names) {
    this.topics = List.of(names);
    return this;
  }

  /** The consumer group, one per zone; {@code <application>-<zone>} by default. */
  public EngineBuilder group(String name) {
    this.group = name;
    return this;
  }

  /**
   * Where a record's ID is, the first that yields one: {@code header:NAME}, {@code key}, {@code
   * json:/pointer}, {@code sha256:value}, {@code offset}, separated by commas. Required: an ID must
   * name the event, not the thing it is about.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  public EngineBuilder recordId(String sources) {
    return recordId(RecordIdSource.parseList(sources));
  }

  /** Where a record's ID is, the first that yields one. Required. */
  public EngineBuilder recordId(List<RecordIdSource> sources) {
    this.recordId = sources;
    return this;
  }

  /** Which records wait for each other; none by default. */
  public EngineBuilder ordering(Ordering given) {
    this.ordering = given;
    return this;
  }

  /** Records being claimed or handled at once; 1,000 by default. Polling pauses past it. */
  public EngineBuilder maxInFlight(int records) {
    this.maxInFlight = records;
    return this;
  }

  /** Records waiting for something; 10,000 by default. Polling pauses past it. */
  public EngineBuilder maxParked(int records) {
    this.maxParked = records;
    return this;
  }

  /** Bytes of records in memory; a sixth of the heap by default. Polling pauses past it. */
  public EngineBuilder maxBuffered(long bytes) {
    this.maxBuffered = bytes;
    return this;
  }

  /** How far back the input may ever be rewound; by default, as far as the topics reach. */
  public EngineBuilder replayHorizon(Duration horizon) {
    this.replayHorizon = horizon;
    return this;
  }

  /** Namespace, holder, lease, skew and retention all at once. */
  public EngineBuilder claims(ClaimSettings settings) {
    this.namespace = settings.namespace();
    this.holder = settings.holder();
    this.lease = settings.lease();
    this.maxSkew = settings.maxSkew();
    this.retention = settings.retention();
    return this;
  }

  /** Separates applications that share a table or bucket; the application by default. */
  public EngineBuilder namespace(String name) {
    this.namespace = name;
    return this;
  }

  /** Names this process to people; {@code <zone>/<host name>-<random>} by default. */
  public EngineBuilder holder(String name) {
    this.holder = name;
    return this;
  }

  /** How long a granted claim lasts; 30 s by default. */
  public EngineBuilder lease(Duration length) {
    this.lease = length;
    return this;
  }

  /** The declared bound on the difference between clocks; 1 s by default. */
  public EngineBuilder maxSkew(Duration bound) {
    this.maxSkew = bound;
    return this;
  }

  /** How long the store remembers that a record is done or dead; 8 days by default. */
  public EngineBuilder retention(Duration length) {
    this.retention = length;
    return this;
  }

  /** Whether leases are renewed while the handler runs; they are by default. */
  public EngineBuilder renew(boolean renewed) {
    this.renew = renewed;
    return this;
  }

  /**
   * How long the other zones leave a record to its preferred zone first; by default, as long as
   * they see it need.
   */
  public EngineBuilder headStart(Duration length) {
    this.headStart = length;
    return this;
  }

  /** What becomes of a known ID with another payload; by default, a dead letter. */
  public EngineBuilder onMismatch(OnMismatch given) {
    this.onMismatch = given;
    return this;
  }

  /**
   * Where a record says what it touches: {@code json:/pointer}, in which {@code *} stands for each
   * element of an array, {@code header:NAME}, {@code key}, separated by commas. All that they yield
   * is claimed with the record: of two records that touch the same thing, one waits for the other,
   * in whichever zone. By default records touch nothing.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  public EngineBuilder resources(String sources) {
    return resources(ResourceSource.parseList(sources));
  }

  /** Where a record says what it touches; by default nowhere. */
  public EngineBuilder resources(List<ResourceSource> sources) {
    this.resources = sources;
    return this;
  }

  /** After how many attempts a record is given up; 5 by default. */
  public EngineBuilder maxAttempts(int attempts) {
    this.maxAttempts = attempts;
    return this;
  }

  /**
   * The pause before the second attempt, and the most it doubles up to; 1 s and 1 min by default.
   */
  public EngineBuilder backoff(Duration first, Duration most) {
    this.backoff = first;
    this.maxBackoff = most;
    return this;
  }

  /** How long until a handler is interrupted and its attempt fails; 5 min by default. */
  public EngineBuilder handlerTimeout(Duration limit) {
    this.handlerTimeout = limit;
    return this;
  }

  /** Where all dead letters go; by default each goes to {@code <topic>.dlt}. */
  public EngineBuilder deadLetterTopic(String name) {
    this.deadLetterTopic = name;
    return this;
  }

  /** Where outcomes are published and heard; {@code <application>.outcomes} by default. */
  public EngineBuilder outcomesTopic(String name) {
    this.outcomesTopic = name;
    this.outcomes = true;
    return this;
  }

  /** Publishes no outcomes and hears none: the lock store is asked instead. */
  public EngineBuilder withoutOutcomes() {
    this.outcomes = false;
    return this;
  }

  /** Whether an outcome heard is enough to skip a record; by default it is. */
  public EngineBuilder outcomesTrust(Trust given) {
    this.outcomesTrust = given;
    return this;
  }

  /** How long running handlers may finish when the engine stops; 20 s by default. */
  public EngineBuilder shutdownGrace(Duration length) {
    this.shutdownGrace = length;
    return this;
  }

  /** The brokers, such as {@code localhost:9092}. Required. */
  public EngineBuilder bootstrapServers(String servers) {
    return kafka("bootstrap.servers", servers);
  }

  /** A setting that is passed to the Kafka clients as it is. */
  public EngineBuilder kafka(String name, Object value) {
    kafka.put(name, value);
    return this;
  }

  /** Settings that are passed to the Kafka clients as they are. */
  public EngineBuilder kafka(Map<String, ?> given) {
    kafka.putAll(given);
    return this;
  }

  /**
   * Opens the lock store with the settings of its claims. Called when the engine starts, and again
   * after a while as long as it throws {@link io.firstclaim.lock.StoreUnavailableException}.
   * Required.
   */
  public EngineBuilder store(Function<? super ClaimSettings, ? extends ClaimStore> opening) {
    this.store = opening;
    return this;
  }

  /**
   * What to do with a record, each on a platform thread out of a pool: as many as there are records
   * in their handlers, {@link #maxInFlight} at most. Required.
   */
  public EngineBuilder handler(RecordHandler given) {
    this.handler = new HandlerThreads(given);
    return this;
  }

  /**
   * What to do with a record, each on a virtual thread of its own, which costs less. Only for a
   * handler that never computes for long and waits for nothing but what virtual threads can wait
   * for: one that keeps its carrier to itself stops every other record.
   */
  public EngineBuilder waitingHandler(RecordHandler given) {
    this.handler = given;
    return this;
  }

  /** Hears of what happens to records; by default nobody does. */
  public EngineBuilder listener(EngineListener given) {
    this.listener = given;
    return this;
  }

  /**
   * What each delivery is traced with: a span {@code process <topic>}, below that of the record's
   * producer, with what it waited for, its claims, its handler and its end below it. Handlers run
   * in the context of theirs, so that what they call can continue it. By default nothing is traced.
   * What is given must neither block nor throw, and stays the caller's to close, after the engine.
   */
  public EngineBuilder openTelemetry(OpenTelemetry given) {
    this.telemetry = given;
    return this;
  }

  /** The clocks; the machine's by default. */
  public EngineBuilder time(TimeSource given) {
    this.time = given;
    return this;
  }

  /** Called on a thread of the engine if a defect ends it; must not wait for it to stop. */
  public EngineBuilder onDefect(Consumer<? super Throwable> given) {
    this.onDefect = given;
    return this;
  }

  /**
   * The values as they stand, with all defaults, checked.
   *
   * @throws IllegalArgumentException if one is wrong or missing; its message is a line that names
   *     the value and what would be right
   */
  public EngineSettings settings() {
    String here = required(zone, "the zone", "name this deployment's, such as a");
    return new EngineSettings(
        application,
        here,
        zones,
        new Input(
            topics,
            group == null ? application + "-" + here : group,
            recordId,
            ordering,
            maxInFlight,
            maxParked,
            maxBuffered,
            Optional.ofNullable(replayHorizon)),
        new Claiming(
            new ClaimSettings(
                namespace == null ? application : namespace,
                holder == null ? new Holder(here, process()).toString() : holder,
                lease,
                maxSkew,
                retention),
            renew,
            Optional.ofNullable(headStart),
            onMismatch,
            resources),
        new Retrying(maxAttempts, backoff, maxBackoff),
        handlerTimeout,
        Optional.ofNullable(deadLetterTopic),
        outcomes
            ? Optional.of(outcomesTopic == null ? application + ".outcomes" : outcomesTopic)
            : Optional.empty(),
        outcomesTrust,
        shutdownGrace,
        kafka);
  }

  /**
   * An engine that is not running yet.
   *
   * @throws IllegalArgumentException if a value or part is wrong or missing; its message is a line
   *     that names it and what would be right
   */
  public Engine build() {
    return new Engine(
        settings(),
        required(store, "the store", "say how the lock store is opened"),
        required(handler, "the handler", "say what is done with a record"),
        listener,
        telemetry,
        time,
        onDefect);
  }

  private static <T> T required(@Nullable T given, String what, String remedy) {
    if (given == null) {
      throw new IllegalArgumentException("%s is not given: %s".formatted(what, remedy));
    }
    return given;
  }

  private static String process() {
    String random = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
    try {
      return InetAddress.getLocalHost().getHostName() + "-" + random;
    } catch (UnknownHostException e) {
      return "unknown-host-" + random;
    }
  }
}
