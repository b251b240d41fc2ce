package io.firstclaim.processor.service.bench;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.config.Settings;
import io.firstclaim.processor.engine.consumer.Engine;
import io.firstclaim.processor.engine.consumer.EngineListener;
import io.firstclaim.processor.engine.consumer.KafkaClients;
import io.firstclaim.processor.engine.identity.RecordIdSource;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import org.apache.kafka.clients.producer.Producer;

/** One zone's engine, in this process. */
final class Instance implements AutoCloseable, EngineListener {
  private final LongAdder completed = new LongAdder();
  private final LongAdder duplicates = new LongAdder();
  private final Producer<byte[], byte[]> producer;
  private final Engine engine;

  /** What may differ between measurements. */
  record Plan(
      String zone,
      List<String> zones,
      String topic,
      Optional<String> outcomes,
      int inFlight,
      Duration lease) {

    static Plan of(String topic, Optional<String> outcomes) {
      return new Plan("a", List.of(), topic, outcomes, 1000, Duration.ofSeconds(30));
    }

    Plan zone(String name, List<String> all) {
      return new Plan(name, all, topic, outcomes, inFlight, lease);
    }

    Plan inFlight(int most) {
      return new Plan(zone, zones, topic, outcomes, most, lease);
    }

    Plan lease(Duration duration) {
      return new Plan(zone, zones, topic, outcomes, inFlight, duration);
    }

    ClaimSettings store() {
      return new ClaimSettings(
          "bench", zone + "/bench", lease, Duration.ofSeconds(1), Duration.ofDays(8));
    }
  }

  Instance(Stack stack, Plan plan, ClaimStore store, RecordHandler handler) {
    Settings settings =
        new Settings(
            plan.zone(),
            plan.zones(),
            new Settings.Input(
                List.of(plan.topic()),
                plan.topic() + "-" + plan.zone(),
                RecordIdSource.parseList("key"),
                Settings.Ordering.UNORDERED,
                plan.inFlight(),
                10_000,
                Optional.empty()),
            new Settings.Claiming(
                Settings.Backend.MEMORY,
                plan.store(),
                true,
                Duration.ofMillis(100),
                Settings.OnMismatch.DEAD_LETTER,
                "",
                false,
                Optional.empty()),
            new Settings.Handling(
                "bench",
                Duration.ofMinutes(5),
                Optional.empty(),
                Duration.ZERO,
                Optional.empty(),
                Optional.empty()),
            new Settings.Retrying(5, Duration.ofSeconds(1), Duration.ofMinutes(1)),
            Optional.empty(),
            plan.outcomes(),
            Duration.ofSeconds(5),
            Map.of("bootstrap.servers", stack.bootstrapServers()));
    KafkaClients clients = new KafkaClients(settings);
    producer = clients.producer();
    engine =
        new Engine(
            settings,
            clients,
            producer,
            store,
            handler,
            this,
            TimeSource.system(),
            fault -> fault.printStackTrace());
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
    return engine.inFlight();
  }

  int parked() {
    return engine.parked();
  }

  /** Starts all of them, and measures from the first record counted to the last of so many. */
  static Figure measure(long records, List<Instance> zones, ToLongFunction<Instance> count)
      throws InterruptedException {
    for (Instance zone : zones) {
      zone.start();
    }
    long before = await(1, zones, count);
    Figure.Start start = Figure.start();
    long after = await(records, zones, count);
    return start.end(after - before);
  }

  private static long await(long records, List<Instance> zones, ToLongFunction<Instance> count)
      throws InterruptedException {
    while (true) {
      long counted = zones.stream().mapToLong(count).sum();
      if (counted >= records) {
        return counted;
      }
      Thread.sleep(25);
    }
  }

  @Override
  public void delivered(Delivered result) {
    switch (result) {
      case COMPLETED -> completed.increment();
      case DUPLICATE -> duplicates.increment();
      case FAILED, DEAD, LOST, MISMATCH ->
          throw new IllegalStateException("a record ended as " + result);
    }
  }

  @Override
  public void claimed(String result) {}

  @Override
  public void tookOver() {}

  @Override
  public void handled(Duration took) {}

  @Override
  public void close() {
    try {
      engine.stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    producer.close();
  }
}
