package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.api.EngineCatalog.APPLICATION;
import static io.firstclaim.processor.engine.api.EngineCatalog.BACKOFF;
import static io.firstclaim.processor.engine.api.EngineCatalog.DEAD_LETTER_TOPIC;
import static io.firstclaim.processor.engine.api.EngineCatalog.GROUP;
import static io.firstclaim.processor.engine.api.EngineCatalog.HANDLER_RATE;
import static io.firstclaim.processor.engine.api.EngineCatalog.HANDLER_TIMEOUT;
import static io.firstclaim.processor.engine.api.EngineCatalog.HEAD_START;
import static io.firstclaim.processor.engine.api.EngineCatalog.KAFKA;
import static io.firstclaim.processor.engine.api.EngineCatalog.LEASE;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_ATTEMPTS;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_BACKOFF;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_BUFFERED;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_IN_FLIGHT;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_PARKED;
import static io.firstclaim.processor.engine.api.EngineCatalog.MAX_SKEW;
import static io.firstclaim.processor.engine.api.EngineCatalog.MODE;
import static io.firstclaim.processor.engine.api.EngineCatalog.NAMESPACE;
import static io.firstclaim.processor.engine.api.EngineCatalog.ON_MISMATCH;
import static io.firstclaim.processor.engine.api.EngineCatalog.ORDERING;
import static io.firstclaim.processor.engine.api.EngineCatalog.OUTCOMES_TOPIC;
import static io.firstclaim.processor.engine.api.EngineCatalog.OUTCOMES_TRUST;
import static io.firstclaim.processor.engine.api.EngineCatalog.RECORD_ID;
import static io.firstclaim.processor.engine.api.EngineCatalog.RENEW;
import static io.firstclaim.processor.engine.api.EngineCatalog.REPLAY_HORIZON;
import static io.firstclaim.processor.engine.api.EngineCatalog.RESOURCES;
import static io.firstclaim.processor.engine.api.EngineCatalog.RETENTION;
import static io.firstclaim.processor.engine.api.EngineCatalog.SHUTDOWN_GRACE;
import static io.firstclaim.processor.engine.api.EngineCatalog.TOPICS;
import static io.firstclaim.processor.engine.api.EngineCatalog.ZONE;
import static io.firstclaim.processor.engine.api.EngineCatalog.ZONES;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineCatalog;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.Mode;
import io.firstclaim.processor.engine.api.EngineSettings.OnMismatch;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.api.EngineSettings.Trust;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.engine.api.RecordIdSource;
import io.firstclaim.processor.engine.api.ResourceSource;
import io.firstclaim.processor.engine.flow.Findings;
import io.firstclaim.processor.engine.handler.HandlerThreads;
import io.firstclaim.processor.engine.kafka.Clients;
import io.firstclaim.processor.engine.kafka.KafkaClients;
import io.firstclaim.processor.engine.setting.Setting;
import io.firstclaim.processor.engine.setting.Settings;
import io.firstclaim.processor.handler.RecordHandler;
import io.opentelemetry.api.OpenTelemetry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Collects the values and parts of an {@link Engine}. Zone, topics, record ID, bootstrap servers,
 * store and handler must be given; all else has a default. Nothing is checked before {@link
 * #build()}. Not thread-safe.
 */
public final class EngineBuilder {
  private final Settings settings;

  private @Nullable Function<? super ClaimSettings, ? extends ClaimStore> store;
  private @Nullable RecordHandler handler;
  private EngineListener listener = new EngineListener() {};
  private OpenTelemetry telemetry = OpenTelemetry.noop();
  private TimeSource time = TimeSource.system();
  private Function<? super EngineSettings, ? extends Clients> kafka = KafkaClients::new;
  private Consumer<? super Throwable> onDefect = _ -> {};

  EngineBuilder() {
    settings = Settings.none();
  }

  EngineBuilder(EngineSettings values) {
    settings = values.asGiven();
  }

  /** Gives this value to a setting; most of the methods below do so for one of them. */
  public <T> EngineBuilder set(Setting<T> setting, T value) {
    settings.set(setting, value);
    return this;
  }

  /** {@link EngineCatalog#APPLICATION}: names everything that two applications must not share. */
  public EngineBuilder application(String name) {
    return set(APPLICATION, name);
  }

  /**
   * {@link EngineCatalog#MODE}: {@link Mode#SHADOW} claims and completes records beside whatever
   * processes them, and {@link Engine#shadow} tells what would have become of them. It calls no
   * handler, so none need be given.
   */
  public EngineBuilder mode(Mode given) {
    return set(MODE, given);
  }

  /** {@link EngineCatalog#ZONE}: this deployment's zone, 1 to 32 of a-z, 0-9 and -. Required. */
  public EngineBuilder zone(String name) {
    return set(ZONE, name);
  }

  /** {@link EngineCatalog#ZONES}: all zones; with them, each record has a preferred zone. */
  public EngineBuilder zones(List<String> names) {
    return set(ZONES, List.copyOf(names));
  }

  /** {@link EngineCatalog#INSTANCE}: names this process within its zone. */
  public EngineBuilder instance(String name) {
    return set(EngineCatalog.INSTANCE, name);
  }

  /** {@link EngineCatalog#TOPICS}: the input topics. Required. */
  public EngineBuilder topics(String... names) {
    return set(TOPICS, List.of(names));
  }

  /** {@link EngineCatalog#GROUP}: the consumer group, one per zone. */
  public EngineBuilder group(String name) {
    return set(GROUP, name);
  }

  /**
   * {@link EngineCatalog#RECORD_ID}: where a record's ID is, the first that yields one: {@code
   * header:NAME}, {@code key}, {@code json:/pointer}, {@code sha256:value}, {@code offset},
   * separated by commas. Required: an ID must name the event, not the thing it is about.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  public EngineBuilder recordId(String sources) {
    return recordId(RecordIdSource.parseList(sources));
  }

  /** {@link EngineCatalog#RECORD_ID}: where a record's ID is, the first that yields one. */
  public EngineBuilder recordId(List<RecordIdSource> sources) {
    return set(RECORD_ID, List.copyOf(sources));
  }

  /** {@link EngineCatalog#ORDERING}: which records wait for each other. */
  public EngineBuilder ordering(Ordering given) {
    return set(ORDERING, given);
  }

  /** {@link EngineCatalog#MAX_IN_FLIGHT}: records being claimed or handled at once. */
  public EngineBuilder maxInFlight(int records) {
    return set(MAX_IN_FLIGHT, records);
  }

  /** {@link EngineCatalog#MAX_PARKED}: records waiting for something. */
  public EngineBuilder maxParked(int records) {
    return set(MAX_PARKED, records);
  }

  /** {@link EngineCatalog#MAX_BUFFERED}: bytes of records in memory. */
  public EngineBuilder maxBuffered(long bytes) {
    return set(MAX_BUFFERED, bytes);
  }

  /** {@link EngineCatalog#REPLAY_HORIZON}: how far back the input may ever be rewound. */
  public EngineBuilder replayHorizon(Duration horizon) {
    return set(REPLAY_HORIZON, Optional.of(horizon));
  }

  /** Namespace, instance, lease, skew and retention all at once. */
  public EngineBuilder claims(ClaimSettings given) {
    return namespace(given.namespace())
        .instance(Holder.parse(given.holder()).instance())
        .lease(given.lease())
        .maxSkew(given.maxSkew())
        .retention(given.retention());
  }

  /** {@link EngineCatalog#NAMESPACE}: separates applications that share a table or bucket. */
  public EngineBuilder namespace(String name) {
    return set(NAMESPACE, name);
  }

  /** {@link EngineCatalog#LEASE}: how long a granted claim lasts. */
  public EngineBuilder lease(Duration length) {
    return set(LEASE, length);
  }

  /** {@link EngineCatalog#MAX_SKEW}: the declared bound on the difference between clocks. */
  public EngineBuilder maxSkew(Duration bound) {
    return set(MAX_SKEW, bound);
  }

  /**
   * {@link EngineCatalog#RETENTION}: how long the store remembers that a record is done or dead.
   */
  public EngineBuilder retention(Duration length) {
    return set(RETENTION, length);
  }

  /** {@link EngineCatalog#RENEW}: whether leases are renewed while the handler runs. */
  public EngineBuilder renew(boolean renewed) {
    return set(RENEW, renewed);
  }

  /**
   * {@link EngineCatalog#HEAD_START}: how long the other zones leave a record to its preferred zone
   * first; if it is not given, as long as they see it need.
   */
  public EngineBuilder headStart(Duration length) {
    return set(HEAD_START, Optional.of(length));
  }

  /** {@link EngineCatalog#ON_MISMATCH}: what becomes of a known ID with another payload. */
  public EngineBuilder onMismatch(OnMismatch given) {
    return set(ON_MISMATCH, given);
  }

  /**
   * {@link EngineCatalog#RESOURCES}: where a record says what it touches: {@code json:/pointer}, in
   * which {@code *} stands for each element of an array, {@code header:NAME}, {@code key},
   * separated by commas. All that they yield is claimed with the record: of two records that touch
   * the same thing, one waits for the other, in whichever zone.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  public EngineBuilder resources(String sources) {
    return resources(ResourceSource.parseList(sources));
  }

  /** {@link EngineCatalog#RESOURCES}: where a record says what it touches. */
  public EngineBuilder resources(List<ResourceSource> sources) {
    return set(RESOURCES, List.copyOf(sources));
  }

  /** {@link EngineCatalog#MAX_ATTEMPTS}: after how many attempts a record is given up. */
  public EngineBuilder maxAttempts(int attempts) {
    return set(MAX_ATTEMPTS, attempts);
  }

  /**
   * {@link EngineCatalog#BACKOFF} and {@link EngineCatalog#MAX_BACKOFF}: the pause before the
   * second attempt, and the most it doubles up to.
   */
  public EngineBuilder backoff(Duration first, Duration most) {
    return set(BACKOFF, first).set(MAX_BACKOFF, most);
  }

  /**
   * {@link EngineCatalog#HANDLER_TIMEOUT}: how long until a handler is interrupted and its attempt
   * fails.
   */
  public EngineBuilder handlerTimeout(Duration limit) {
    return set(HANDLER_TIMEOUT, limit);
  }

  /** {@link EngineCatalog#HANDLER_RATE}: how many handlers may begin in a second. */
  public EngineBuilder handlerRate(int perSecond) {
    return set(HANDLER_RATE, Optional.of(perSecond));
  }

  /** {@link EngineCatalog#DEAD_LETTER_TOPIC}: where all dead letters go. */
  public EngineBuilder deadLetterTopic(String name) {
    return set(DEAD_LETTER_TOPIC, Optional.of(name));
  }

  /** {@link EngineCatalog#OUTCOMES_TOPIC}: where outcomes are published and heard. */
  public EngineBuilder outcomesTopic(String name) {
    return set(OUTCOMES_TOPIC, Optional.of(name));
  }

  /** Publishes no outcomes and hears none: the lock store is asked instead. */
  public EngineBuilder withoutOutcomes() {
    return set(OUTCOMES_TOPIC, Optional.empty());
  }

  /** {@link EngineCatalog#OUTCOMES_TRUST}: whether an outcome heard is enough to skip a record. */
  public EngineBuilder outcomesTrust(Trust given) {
    return set(OUTCOMES_TRUST, given);
  }

  /**
   * {@link EngineCatalog#SHUTDOWN_GRACE}: how long running handlers may finish when the engine
   * stops.
   */
  public EngineBuilder shutdownGrace(Duration length) {
    return set(SHUTDOWN_GRACE, length);
  }

  /** The brokers, such as {@code localhost:9092}. Required. */
  public EngineBuilder bootstrapServers(String servers) {
    return kafka("bootstrap.servers", servers);
  }

  /** A setting that is passed to the Kafka clients as it is. */
  public EngineBuilder kafka(String name, Object value) {
    return kafka(Map.of(name, value));
  }

  /**
   * Settings that are passed to the Kafka clients as they are. Without {@code compression.type},
   * outcomes are compressed with {@code lz4}, of whose native code Java warns where it is not
   * started with {@code --enable-native-access=ALL-UNNAMED}.
   */
  public EngineBuilder kafka(Map<String, ?> given) {
    Map<String, Object> all = new HashMap<>(settings.get(KAFKA));
    all.putAll(given);
    return set(KAFKA, Map.copyOf(all));
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

  /** The engine's clocks; the machine's by default. The store has its own: give it the same. */
  public EngineBuilder time(TimeSource given) {
    this.time = given;
    return this;
  }

  /** What makes the Kafka clients, for tests that have a broker of their own. */
  EngineBuilder clients(Function<? super EngineSettings, ? extends Clients> given) {
    this.kafka = given;
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
   * @throws IllegalArgumentException if some are wrong or missing; its message has a line for each,
   *     which names the setting, the value and what would be right
   */
  public EngineSettings settings() {
    return EngineSettings.of(settings.copy());
  }

  /**
   * An engine that is not running yet.
   *
   * @throws IllegalArgumentException if a setting or part is wrong or missing; its message has a
   *     line for each, which names it and what would be right
   */
  public Engine build() {
    EngineSettings values = settings();
    return new Engine(
        values,
        required(store, "the store", "say how the lock store is opened"),
        values.mode() == Mode.SHADOW
            ? Findings.handler()
            : required(handler, "the handler", "say what is done with a record"),
        listener,
        telemetry,
        time,
        kafka,
        onDefect);
  }

  private static <T> T required(@Nullable T given, String what, String remedy) {
    if (given == null) {
      throw new IllegalArgumentException("%s is not given: %s".formatted(what, remedy));
    }
    return given;
  }
}
