package io.firstclaim.processor.service.instance;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.SideClients;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.Mode;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.service.acts.Acknowledgements;
import io.firstclaim.processor.service.acts.ActLog;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.log.KafkaClientLog;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import io.firstclaim.processor.service.store.LockStore;
import io.firstclaim.processor.service.store.Upkeep;
import io.micronaut.context.annotation.Requires;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One instance from start to stop: an engine, observed. */
@Singleton
@Requires(condition = TakesRecords.class)
public non-sealed class Service implements Served {
  private static final Logger LOG = LoggerFactory.getLogger(Service.class);
  private static final Duration AUDIT_STOP = Duration.ofSeconds(5);

  /** How long a stop may last after its grace, whatever does not answer. */
  private static final Duration AFTER_GRACE = Duration.ofSeconds(9);

  private static final Duration LEAST = Duration.ofSeconds(1);

  private final ServiceSettings settings;
  private final LockStore store;
  private final Telemetry telemetry;
  private final Audit audit;
  private final Engine engine;
  private final TimeSource time;
  private final AtomicReference<@Nullable DrivenClaimStore> claims = new AtomicReference<>();
  private volatile boolean isStopping;

  Service(
      ServiceSettings settings,
      LockStore store,
      Upkeep upkeep,
      ChosenHandler handler,
      EngineMetrics metrics,
      Telemetry telemetry,
      Audit audit,
      Acknowledgements acknowledgements,
      TimeSource time) {
    this.settings = settings;
    this.store = store;
    this.telemetry = telemetry;
    this.audit = audit;
    this.time = time;
    this.engine =
        handler
            .giveTo(Engine.builder(settings.engine()))
            .store(_ -> opened(store.open(time, metrics, upkeep)))
            .listener(metrics)
            .openTelemetry(telemetry.get())
            .time(time)
            .onDefect(ServiceProcess::fail)
            .build();
    metrics.observe(engine::state);
    if (settings.audit().off().isEmpty()) {
      metrics.observe(audit);
      metrics.observe(audit, found -> acknowledgements.of(found.id(), found.at()).isPresent());
    }
    if (settings.engine().mode() == Mode.SHADOW) {
      metrics.observeShadow(engine);
    }
  }

  private ClaimStore opened(DrivenClaimStore store) {
    claims.set(store);
    return store;
  }

  /** Waits for the lock store and for Kafka, then begins to process, and returns. */
  @Override
  public void run() throws InterruptedException {
    // The engine says what it waits for; Kafka's clients need not repeat it several times a second.
    KafkaClientLog.quiet();
    try {
      engine.start();
    } finally {
      KafkaClientLog.asConfigured();
    }
    requireNotCompacted();
    if (settings.audit().off().isEmpty()) {
      audit.start(Objects.requireNonNull(claims.get()).identity());
    }
    EngineSettings values = settings.engine();
    if (values.mode() == Mode.SHADOW) {
      LOG.info(
          "Zone {} as {} is in SHADOW MODE: it handles nothing, and only tells what it would skip of {}; group {}, namespace {}, claims in {}",
          values.zone(),
          values.claim().store().holder(),
          String.join(",", values.input().topics()),
          values.input().group(),
          values.claim().store().namespace(),
          store.name());
      return;
    }
    LOG.info(
        "Zone {} as {} processes {} with handler {}, claims in {}",
        values.zone(),
        values.claim().store().holder(),
        String.join(",", values.input().topics()),
        settings.inForce().get("firstclaim.handler.type"),
        store.name());
  }

  /** Requires of what the service keeps beside the engine's topics that Kafka keeps it. */
  private void requireNotCompacted() throws InterruptedException {
    List<String> kept = new ArrayList<>();
    if (settings.tokenFile().isPresent()) {
      kept.add(ActLog.topicOf(settings.engine().application()));
    }
    if (settings.audit().off().isEmpty()) {
      kept.add(AuditSettings.violationsTopicOf(settings.engine().application()));
    }
    try (Admin admin = new SideClients(settings.engine()).admin()) {
      for (String topic : kept) {
        SideClients.requireNotCompacted(admin, topic, settings.engine().kafka());
      }
    } catch (ExecutionException e) { // whoever writes to the topics hears of the fault again
      LOG.warn("Kafka does not say whether topics {} are compacted: {}", kept, OneLine.of(e));
    }
  }

  /** Stops in good order; both at a time, as there is not much. */
  @Override
  public Duration stop() throws InterruptedException {
    isStopping = true;
    Moment begun = time.now();
    Thread auditing =
        Thread.ofPlatform().name("firstclaim-audit-stop").start(() -> audit.stop(AUDIT_STOP));
    engine.stop();
    boolean _ = auditing.join(AUDIT_STOP.plusSeconds(1));
    Duration grace = settings.engine().shutdownGrace().minus(time.now().since(begun));
    telemetry.extend(grace);
    Duration left = grace.plus(AFTER_GRACE);
    return left.compareTo(LEAST) > 0 ? left : LEAST;
  }

  /** The claims; empty until the store has answered for the first time. */
  public Optional<ClaimStore> claims() {
    return Optional.ofNullable(claims.get());
  }

  @Override
  public Optional<DrivenClaimStore> opened() {
    return Optional.ofNullable(claims.get());
  }

  /** What processes the records. */
  public Engine engine() {
    return engine;
  }

  /** Whether it was told to stop: it takes no more records, and ends those that it has. */
  @Override
  public boolean isStopping() {
    return isStopping;
  }

  /** What the engine is doing. */
  public EngineState state() {
    return engine.state();
  }
}
