package io.firstclaim.bench;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.EngineBuilder;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.handler.RecordHandler;
import io.opentelemetry.api.OpenTelemetry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;

/** One zone's engine, in this process. */
final class Instance implements AutoCloseable, EngineListener {
  private final LongAdder completed = new LongAdder();
  private final LongAdder duplicates = new LongAdder();
  private final Engine engine;

  /** What may differ between measurements. */
  record Plan(
      String zone,
      List<String> zones,
      String topic,
      Optional<String> outcomes,
      int inFlight,
      Duration lease,
      Optional<String> resources) {

    static Plan of(String topic, Optional<String> outcomes) {
      return new Plan(
          "a", List.of(), topic, outcomes, 1000, Duration.ofSeconds(30), Optional.empty());
    }

    Plan zone(String name, List<String> all) {
      return new Plan(name, all, topic, outcomes, inFlight, lease, resources);
    }

    Plan inFlight(int most) {
      return new Plan(zone, zones, topic, outcomes, most, lease, resources);
    }

    Plan lease(Duration duration) {
      return new Plan(zone, zones, topic, outcomes, inFlight, duration, resources);
    }

    Plan resources(String sources) {
      return new Plan(zone, zones, topic, outcomes, inFlight, lease, Optional.of(sources));
    }

    ClaimSettings store() {
      return new ClaimSettings(
          "bench", zone + "/bench", lease, Duration.ofSeconds(1), Duration.ofDays(15));
    }
  }

  Instance(Stack stack, Plan plan, ClaimStore store, RecordHandler handler) {
    this(stack, plan, store, handler, OpenTelemetry.noop());
  }

  /** An instance in a process that has no stack of its own. */
  Instance(String bootstrapServers, Plan plan, ClaimStore store, RecordHandler handler) {
    this(bootstrapServers, plan, store, handler, OpenTelemetry.noop());
  }

  /** An instance that is traced. */
  Instance(
      Stack stack, Plan plan, ClaimStore store, RecordHandler handler, OpenTelemetry telemetry) {
    this(stack.bootstrapServers(), plan, store, handler, telemetry);
  }

  private Instance(
      String bootstrapServers,
      Plan plan,
      ClaimStore store,
      RecordHandler handler,
      OpenTelemetry telemetry) {
    EngineBuilder builder =
        Engine.builder()
            .zone(plan.zone())
            .zones(plan.zones())
            .topics(plan.topic())
            .group(plan.topic() + "-" + plan.zone())
            .recordId("key")
            .maxInFlight(plan.inFlight())
            .claims(plan.store())
            .shutdownGrace(Duration.ofSeconds(5))
            .bootstrapServers(bootstrapServers)
            .store(_ -> store)
            .waitingHandler(handler) // as the service's own are
            .listener(this)
            .openTelemetry(telemetry)
            .onDefect(Throwable::printStackTrace);
    plan.outcomes().ifPresentOrElse(builder::outcomesTopic, builder::withoutOutcomes);
    plan.resources().ifPresent(builder::resources);
    engine = builder.build();
  }

  /** A new outcomes topic. */
  static Optional<String> outcomes(Stack stack) {
    return Optional.of(stack.topic("outcomes"));
  }

  /** Starts the engine; what it processes is counted from here. */
  Instance start() throws InterruptedException {
    engine.start();
    return this;
  }

  long completed() {
    return completed.sum();
  }

  long duplicates() {
    return duplicates.sum();
  }

  int inFlight() {
    return running().inFlight();
  }

  int parked() {
    return running().parked();
  }

  private EngineState.Running running() {
    if (engine.state() instanceof EngineState.Running running) {
      return running;
    }
    throw new IllegalStateException("the engine does not run: " + engine.state());
  }

  /** Starts all of them, and measures from the first record counted to the last of so many. */
  static Figure measure(long records, List<Instance> zones, ToLongFunction<Instance> count)
      throws InterruptedException {
    for (Instance zone : zones) {
      zone.start();
    }
    return Figure.measure(records, () -> sum(zones, count));
  }

  static long await(long records, List<Instance> zones, ToLongFunction<Instance> count)
      throws InterruptedException {
    return Figure.await(records, () -> sum(zones, count));
  }

  private static long sum(List<Instance> zones, ToLongFunction<Instance> count) {
    return zones.stream().mapToLong(count).sum();
  }

  @Override
  public void delivered(Delivered result) {
    switch (result) {
      case COMPLETED -> completed.increment();
      case DUPLICATE -> duplicates.increment();
      case FAILED -> {} // as a measurement may have it
      case DEAD, LOST, MISMATCH -> throw new IllegalStateException("a record ended as " + result);
    }
  }

  @Override
  public void close() {
    try {
      engine.stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
