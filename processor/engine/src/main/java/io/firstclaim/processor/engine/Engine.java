package io.firstclaim.processor.engine;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.StartWait.Answer;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.HeldRecord;
import io.firstclaim.processor.engine.api.OtherInstance;
import io.firstclaim.processor.engine.api.Page;
import io.firstclaim.processor.engine.api.ParkedRecord;
import io.firstclaim.processor.engine.api.ShadowReport;
import io.firstclaim.processor.engine.kafka.Clients;
import io.firstclaim.processor.engine.kafka.TopicIds;
import io.firstclaim.processor.engine.kafka.Topics;
import io.firstclaim.processor.engine.trace.Tracing;
import io.firstclaim.processor.handler.RecordHandler;
import io.opentelemetry.api.OpenTelemetry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One instance of an application that processes each Kafka record once across all its zones.
 *
 * {@snippet :
 * Engine engine =
 *     Engine.builder()
 *         .application("orders")
 *         .zone("a")
 *         .topics("orders")
 *         .recordId("header:ce_id")
 *         .bootstrapServers("localhost:9092")
 *         .store(claims -> new MemoryClaimStore(claims, TimeSource.system()))
 *         .handler(context -> HandlerResult.done())
 *         .build();
 * engine.start();
 * }
 *
 * <p>It is started once and stopped once. Thread-safe: it may be stopped while it starts.
 */
public final class Engine {
  private static final Phase NEW = new Phase.New();
  private static final Logger LOG = LoggerFactory.getLogger(Engine.class);
  private static final int MAX_REASON = 1000;
  private static final Duration KAFKA_LIMIT = Duration.ofSeconds(3);

  private final EngineSettings settings;
  private final Function<? super ClaimSettings, ? extends ClaimStore> store;
  private final RecordHandler handler;
  private final EngineListener listener;
  private final OpenTelemetry telemetry;
  private final TimeSource time;
  private final Function<? super EngineSettings, ? extends Clients> kafka;
  private final Consumer<? super Throwable> onDefect;
  private final StartWait waiting;
  private final AtomicReference<Phase> phase = new AtomicReference<>(NEW);
  private volatile @Nullable Throwable fault;
  private volatile @Nullable String pausedAtStart;

  Engine(
      EngineSettings settings,
      Function<? super ClaimSettings, ? extends ClaimStore> store,
      RecordHandler handler,
      EngineListener listener,
      OpenTelemetry telemetry,
      TimeSource time,
      Function<? super EngineSettings, ? extends Clients> kafka,
      Consumer<? super Throwable> onDefect) {
    this.settings = settings;
    this.store = store;
    this.handler = handler;
    this.listener = listener;
    this.telemetry = telemetry;
    this.time = time;
    this.kafka = kafka;
    this.onDefect = onDefect;
    this.waiting = new StartWait(time);
  }

  /** A builder with the defaults. */
  public static EngineBuilder builder() {
    return new EngineBuilder();
  }

  /** A builder with these values, each of which may still be changed. */
  public static EngineBuilder builder(EngineSettings settings) {
    return new EngineBuilder(settings);
  }

  private sealed interface Phase {
    record New() implements Phase {}

    record Starting(Thread starter) implements Phase {}

    record Running(Instance instance) implements Phase {}

    record Over() implements Phase {}
  }

  /**
   * Waits for Kafka, the lock store, the handler and the topics, begins to process, and returns.
   *
   * @throws IllegalStateException if it was started or stopped before
   * @throws InterruptedException if the thread is interrupted, or the engine is stopped meanwhile;
   *     then all is closed, in as good an order as by {@link #stop}
   * @throws io.firstclaim.lock.StoreRefusedException if claims cannot rest on the store
   * @throws io.firstclaim.processor.engine.api.ShortRetentionException if claims are forgotten
   *     before their records
   * @throws io.firstclaim.processor.engine.api.TopicRefusedException if a topic is missing
   * @throws org.apache.kafka.common.KafkaException if a Kafka client cannot be made
   */
  public void start() throws InterruptedException {
    Phase starting = new Phase.Starting(Thread.currentThread());
    if (!phase.compareAndSet(NEW, starting)) {
      throw new IllegalStateException("an engine is started once: build another one");
    }
    try {
      Clients clients = kafka.apply(settings);
      boolean _ = waiting.await(() -> address(clients));
      ClaimStore opened = waiting.await(this::openStore);
      boolean _ = waiting.await(this::openHandler);
      awaitTopics(clients);
      Instance instance =
          new Instance(
              Parts.of(
                  settings,
                  new Parts.Surroundings(
                      clients,
                      opened,
                      handler,
                      listener,
                      Tracing.by(telemetry, settings.zone(), settings.input().group()),
                      time)),
              this::failed);
      begin(instance, starting);
    } catch (RuntimeException | Error e) {
      fault = e;
      throw e;
    } finally {
      phase.compareAndSet(starting, new Phase.Over());
    }
  }

  private void begin(Instance instance, Phase starting) throws InterruptedException {
    boolean running = false;
    try {
      if (pausedAtStart != null) {
        instance.pause(pausedAtStart);
      }
      instance.start();
      running = phase.compareAndSet(starting, new Phase.Running(instance));
      if (!running) {
        // Clears the stop's interrupt, of which the exception tells now.
        boolean _ = Thread.interrupted();
        throw new InterruptedException("stopped while it started");
      }
    } finally {
      if (!running) {
        CompletableFuture.runAsync(
                () -> stopWhole(instance), Thread.ofPlatform().name("firstclaim-stop")::start)
            .join(); // unlike others, this wait is not ended by an interrupt
      }
    }
  }

  /**
   * Stops the instance. This needs a thread of its own: whoever stops an engine that starts
   * interrupts the thread that starts it.
   */
  private static void stopWhole(Instance instance) {
    try {
      instance.stop();
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts this thread", e);
    }
  }

  /**
   * Stops in good order: lets handlers finish within the grace period, releases the rest for the
   * other zones, commits and leaves the group. If the engine is still starting, ends the start.
   */
  public void stop() throws InterruptedException {
    Phase last = phase.getAndUpdate(now -> now instanceof Phase.Running ? now : new Phase.Over());
    switch (last) {
      case Phase.Starting(Thread starter) -> starter.interrupt();
      case Phase.Running(Instance instance) -> {
        instance.stop();
        phase.set(new Phase.Over());
      }
      case Phase.New _, Phase.Over _ -> {}
    }
  }

  /**
   * Has it take no records once it runs, until {@link #resume}. To be called before {@link #start}.
   *
   * @param reason as for {@link #pause}
   */
  public void startPaused(String reason) {
    pausedAtStart = OneLine.of(reason, MAX_REASON);
  }

  /**
   * Takes no more records from now on, until {@link #resume}; it stays in its group and keeps its
   * partitions. Records that were taken before go on to their end, and so do those that a poll
   * under way, of a tenth of a second, still brings. What is paused again has the new reason. Does
   * not outlive the engine.
   *
   * @param reason for people; {@link EngineState.Running#paused()} has it, in one printable line
   * @throws IllegalStateException if the engine is not running
   */
  public void pause(String reason) {
    String why = OneLine.of(reason, MAX_REASON);
    running().pause(why);
    LOG.warn("No more records are taken: {}", why);
  }

  /**
   * Takes records again, if it was paused.
   *
   * @throws IllegalStateException if the engine is not running
   */
  public void resume() {
    running().resume();
    LOG.info("Records are taken again");
  }

  /**
   * A page of the records on which this instance has a lease. Made from what is at hand, which
   * changes meanwhile; never blocks.
   *
   * @param limit the most items, 1 to 1,000
   * @param after {@link Page#next()} of the page before; null for the first
   * @throws IllegalArgumentException if limit or after is wrong
   * @throws IllegalStateException if the engine is not running
   */
  public Page<HeldRecord> held(int limit, @Nullable String after) {
    return running().held(limit, after);
  }

  /**
   * A page of the records that this instance has taken and has no lease on, with what each waits
   * for; the rest as for {@link #held}. Where records are ordered, those whose turn has not come
   * are not among them.
   */
  public Page<ParkedRecord> parked(int limit, @Nullable String after) {
    return running().parked(limit, after);
  }

  /**
   * The other instances of the application, of all zones, as they announce themselves on the
   * outcomes topic. Never blocks.
   *
   * @return empty if that is not known: the engine does not run or has just begun, there is no
   *     outcomes topic, or what is announced there is not heard
   */
  public Optional<List<OtherInstance>> others() {
    return phase.get() instanceof Phase.Running(Instance instance)
        ? instance.others()
        : Optional.empty();
  }

  /**
   * What it has found out since it was started in {@linkplain EngineSettings.Mode#SHADOW shadow
   * mode}. Never blocks.
   *
   * @return empty if it is in another mode, or does not run
   */
  public Optional<ShadowReport> shadow() {
    return phase.get() instanceof Phase.Running(Instance instance)
        ? instance.shadow()
        : Optional.empty();
  }

  private Instance running() {
    if (phase.get() instanceof Phase.Running(Instance instance)) {
      return instance;
    }
    throw new IllegalStateException("the engine is not running");
  }

  /** What the engine is doing now. Never blocks. */
  public EngineState state() {
    Throwable defect = fault;
    if (defect != null) {
      return new EngineState.Ended(Optional.of(defect));
    }
    return switch (phase.get()) {
      case Phase.New _, Phase.Starting _ -> new EngineState.Starting(waiting.waitsFor());
      case Phase.Running(Instance instance) -> instance.state();
      case Phase.Over _ -> new EngineState.Ended(Optional.empty());
    };
  }

  private void failed(Throwable defect) {
    fault = defect;
    onDefect.accept(defect);
  }

  /**
   * Whether a broker's name has an address. That is asked first, as no Kafka client can be made
   * without one.
   */
  private Answer<Boolean> address(Clients clients) {
    return clients.hasAddress()
        ? new Answer.Here<>(true)
        : new Answer.NotYet<>(
            "Kafka: no name in bootstrap.servers=%s has an address".formatted(bootstrapServers()));
  }

  private @Nullable Object bootstrapServers() {
    return settings.kafka().get(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG);
  }

  private Answer<ClaimStore> openStore() {
    try {
      ClaimStore opened = store.apply(settings.claim().store());
      LOG.info("The lock store is {}", opened.identity());
      return new Answer.Here<>(opened);
    } catch (StoreUnavailableException e) {
      return new Answer.NotYet<>("the lock store: " + e.getMessage());
    }
  }

  private Answer<Boolean> openHandler() throws InterruptedException {
    try {
      handler.open();
      return new Answer.Here<>(true);
    } catch (StoreUnavailableException e) {
      return new Answer.NotYet<>("the handler: " + e.getMessage());
    }
  }

  private void awaitTopics(Clients clients) throws InterruptedException {
    Topics topics = new Topics(settings);
    Admin admin = clients.admin();
    try {
      boolean _ = waiting.await(() -> answers(admin));
      boolean _ = waiting.await(() -> ready(topics, admin));
      boolean _ = waiting.await(() -> named(clients.topicIds(), admin));
    } finally {
      admin.close(Duration.ZERO);
    }
  }

  /**
   * Whether Kafka answers. It is given a short while: left alone, a client says nothing for a
   * minute.
   */
  private Answer<Boolean> answers(Admin admin) throws InterruptedException {
    var options = new DescribeClusterOptions().timeoutMs((int) KAFKA_LIMIT.toMillis());
    try {
      String _ = admin.describeCluster(options).clusterId().get();
      return new Answer.Here<>(true);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RetriableException) {
        return new Answer.NotYet<>(
            "Kafka: nothing answers at bootstrap.servers=%s; is it up, are host, port and security.protocol right?"
                .formatted(bootstrapServers()));
      }
      throw new KafkaException(e.getCause());
    }
  }

  private static Answer<Boolean> named(TopicIds ids, Admin admin) throws InterruptedException {
    return ids.ask(admin) ? new Answer.Here<>(true) : new Answer.NotYet<>("Kafka: the topics' IDs");
  }

  private static Answer<Boolean> ready(Topics topics, Admin admin) throws InterruptedException {
    return topics
        .ready(admin)
        .<Answer<Boolean>>map(Answer.NotYet::new)
        .orElseGet(() -> new Answer.Here<>(true));
  }
}
