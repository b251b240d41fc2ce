package io.firstclaim.processor.service.metrics;

import io.firstclaim.lock.StoreOperation;
import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.audit.api.AuditAnswer;
import io.firstclaim.processor.audit.api.Listing;
import io.firstclaim.processor.audit.api.Violation;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.EngineState.Running;
import io.firstclaim.processor.engine.api.ShadowFinding;
import io.firstclaim.processor.service.store.LockStore.StoreMetrics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.config.MeterFilter;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;

/** The metrics of an instance, under the names in docs/metrics.md. Thread-safe. */
public final class EngineMetrics implements EngineListener, StoreMetrics {
  private static final int MOST_VIOLATIONS = 10_000;

  private final MeterRegistry registry;
  private final ConcurrentMap<Delivered, Counter> deliveries = new ConcurrentHashMap<>();
  private final ConcurrentMap<ShadowFinding, Counter> findings = new ConcurrentHashMap<>();
  private final ConcurrentMap<Claimed, Counter> claims = new ConcurrentHashMap<>();
  private final ConcurrentMap<StoreOperation, Counter> storeWrites = new ConcurrentHashMap<>();
  private final ConcurrentMap<StoreOperation, Counter> storeRefusals = new ConcurrentHashMap<>();
  private final ConcurrentMap<StoreOperation, ConcurrentMap<StoreOperation.Result, Counter>>
      storeRequests = new ConcurrentHashMap<>();
  private final ConcurrentMap<StoreOperation, Timer> storeTimes = new ConcurrentHashMap<>();
  private final Counter takeovers;
  private final Counter tooOld;
  private final Counter commitFailures;
  private final KafkaMeters kafka;
  private final Counter sweptListed;
  private final Counter sweptRemoved;
  private final Timer handlerTime;
  private volatile double skewSeconds;

  /** Metrics in this registry. */
  public EngineMetrics(MeterRegistry registry) {
    this.registry = registry;
    for (Delivered result : Delivered.values()) {
      deliveries(result).increment(0);
    }
    takeovers =
        Counter.builder("firstclaim.takeovers")
            .description("Leases of other holders that were over and taken over")
            .register(registry);
    tooOld =
        Counter.builder("firstclaim.too.old")
            .description("Records that are older than what claims remember, and new to the store")
            .register(registry);
    commitFailures =
        Counter.builder("firstclaim.commit.failures")
            .description("Commits of offsets that failed and are repeated")
            .register(registry);
    kafka = new KafkaMeters(registry);
    sweptListed =
        Counter.builder("firstclaim.sweep.listed")
            .description("Claims that sweeps have looked at")
            .register(registry);
    sweptRemoved =
        Counter.builder("firstclaim.sweep.removed")
            .description("Claims past their retention that sweeps have deleted")
            .register(registry);
    handlerTime =
        Timer.builder("firstclaim.handler")
            .description("How long handlers ran")
            .publishPercentileHistogram()
            .register(registry);
    Gauge.builder("firstclaim.clock.skew", () -> skewSeconds)
        .baseUnit("seconds")
        .description("How far the store's clock is ahead of this machine's, at least")
        .register(registry);
  }

  /**
   * Adds what is read off an engine: zeros while it is not running.
   *
   * @param engine what it is doing now
   */
  public void observe(Supplier<EngineState> engine) {
    Gauge.builder("firstclaim.in.flight", () -> read(engine, Running::inFlight))
        .description("Records being claimed or handled")
        .register(registry);
    Gauge.builder("firstclaim.parked", () -> read(engine, Running::parked))
        .description("Records waiting for another holder, a retry, their head start or their turn")
        .register(registry);
    Gauge.builder("firstclaim.abandoned", () -> read(engine, Running::abandoned))
        .description("Handlers that ignore being interrupted, each with a permit to be in flight")
        .register(registry);
    Gauge.builder("firstclaim.buffered", () -> read(engine, Running::bufferedBytes))
        .baseUnit("bytes")
        .description("Bytes of the records in memory")
        .register(registry);
    Gauge.builder("firstclaim.watermark.lag", () -> read(engine, Running::watermarkLag))
        .description("Offsets between what is settled without a gap and what was polled")
        .register(registry);
    Gauge.builder(
            "firstclaim.breaker.open",
            () -> read(engine, running -> running.downstreamFault().isPresent() ? 1 : 0))
        .description("1 while records wait because the downstream is not there or nearly all fail")
        .register(registry);
    Gauge.builder(
            "firstclaim.paused",
            () -> read(engine, running -> running.paused().isPresent() ? 1 : 0))
        .description("1 while an operator has this instance take no records")
        .register(registry);
    Gauge.builder("firstclaim.other.stores", () -> read(engine, Running::otherStores))
        .description("Other lock stores that living instances of this application use")
        .register(registry);
  }

  /**
   * Adds whether records can be taken.
   *
   * @param isReady must not wait
   */
  public void observeReadiness(BooleanSupplier isReady) {
    Gauge.builder("firstclaim.ready", () -> isReady.getAsBoolean() ? 1 : 0)
        .description(
            "1 while the instance can take records, or claims over HTTP if that is all it serves")
        .register(registry);
  }

  /**
   * Adds whether an audit runs, and what it has found in this instance's partitions, which is not
   * there while it does not run.
   */
  public void observe(Audit audit) {
    AuditMeters.bind(registry, audit);
  }

  /** Adds how many of the violations that an audit knows here are acknowledged. */
  public void observe(Audit audit, Predicate<Violation> isAcknowledged) {
    LastKnown acknowledged =
        new LastKnown(
            0,
            () ->
                audit.violations(MOST_VIOLATIONS, Optional.empty())
                        instanceof AuditAnswer.Here<Listing<Violation>>(var page)
                    ? OptionalLong.of(page.items().stream().filter(isAcknowledged).count())
                    : OptionalLong.empty());
    Gauge.builder("firstclaim.violations.acknowledged", acknowledged::now)
        .description("Violations that an operator has seen, and that need no alert any more")
        .register(registry);
  }

  /** Adds what shadow mode finds out: all findings are there from the start. */
  public void observeShadow(Engine engine) {
    for (ShadowFinding finding : ShadowFinding.values()) {
      findings(finding).increment(0);
    }
    Gauge.builder(
            "firstclaim.shadow.longest.lag",
            () -> engine.shadow().map(report -> report.longestLag().toMillis() / 1e3).orElse(0.0))
        .baseUnit("seconds")
        .description("Longest time between a duplicate and the record it is one of")
        .register(registry);
  }

  /** What was counted so far. */
  public Meters meters() {
    return Meters.of(registry);
  }

  private static double read(Supplier<EngineState> engine, ToDoubleFunction<Running> value) {
    return engine.get() instanceof Running running ? value.applyAsDouble(running) : 0;
  }

  @Override
  public void delivered(Delivered result) {
    deliveries(result).increment();
  }

  private Counter deliveries(Delivered result) {
    return deliveries.computeIfAbsent(
        result,
        name ->
            Counter.builder("firstclaim.deliveries")
                .description("How deliveries and attempts ended")
                .tag("result", name.name().toLowerCase(Locale.ROOT))
                .register(registry));
  }

  @Override
  public void found(ShadowFinding finding) {
    findings(finding).increment();
  }

  private Counter findings(ShadowFinding finding) {
    return findings.computeIfAbsent(
        finding,
        name ->
            Counter.builder("firstclaim.shadow")
                .description("What would have become of deliveries")
                .tag("finding", name.name().toLowerCase(Locale.ROOT))
                .register(registry));
  }

  @Override
  public void claimed(Claimed result) {
    claims
        .computeIfAbsent(
            result,
            name ->
                Counter.builder("firstclaim.claims")
                    .description("Answers to claims")
                    .tag("result", name.name().toLowerCase(Locale.ROOT))
                    .register(registry))
        .increment();
  }

  @Override
  public void tookOver() {
    takeovers.increment();
  }

  @Override
  public void tooOld() {
    tooOld.increment();
  }

  @Override
  public void handled(Duration took) {
    handlerTime.record(took);
  }

  @Override
  public void commitFailed() {
    commitFailures.increment();
  }

  @Override
  public void opened(Consumer<?, ?> consumer) {
    kafka.bind(consumer);
  }

  @Override
  public void replaced(Consumer<?, ?> consumer) {
    kafka.unbind(consumer);
  }

  @Override
  public void opened(Producer<?, ?> producer) {
    kafka.bind(producer);
  }

  @Override
  public void opened(AdminClient admin) {
    kafka.bind(admin);
  }

  /** Keeps the number of meters within bounds, however large the Kafka cluster. */
  public static MeterFilter bounded() {
    return KafkaMeters.bounded();
  }

  @Override
  public void called(StoreOperation op, StoreOperation.Result result, Duration took) {
    storeRequests
        .computeIfAbsent(op, _ -> new ConcurrentHashMap<>())
        .computeIfAbsent(
            result,
            name ->
                Counter.builder("firstclaim.store.requests")
                    .description("Calls to the lock store, the client's own retries not counted")
                    .tag("op", op.label())
                    .tag("result", name.label())
                    .register(registry))
        .increment();
    storeTimes
        .computeIfAbsent(
            op,
            name ->
                Timer.builder("firstclaim.store")
                    .description("How long calls to the lock store took")
                    .tag("op", name.label())
                    .publishPercentileHistogram()
                    .register(registry))
        .record(took);
    if (result == StoreOperation.Result.REFUSED) {
      refused(op, 1);
    }
  }

  @Override
  public void refused(StoreOperation op, int writes) {
    storeRefusals
        .computeIfAbsent(
            op,
            name ->
                Counter.builder("firstclaim.store.refused")
                    .description("Writes that the lock store refused by their conditions")
                    .tag("op", name.label())
                    .register(registry))
        .increment(writes);
  }

  @Override
  public void wrote(StoreOperation op, int writes) {
    storeWrites
        .computeIfAbsent(
            op,
            name ->
                Counter.builder("firstclaim.store.writes")
                    .description("Writes that the lock store bills, several of them in one call")
                    .tag("op", name.label())
                    .register(registry))
        .increment(writes);
  }

  @Override
  public void swept(int listed, int removed) {
    sweptListed.increment(listed);
    sweptRemoved.increment(removed);
  }

  @Override
  public void clockSkew(Duration skew) {
    skewSeconds = skew.toNanos() / 1e9;
  }
}
