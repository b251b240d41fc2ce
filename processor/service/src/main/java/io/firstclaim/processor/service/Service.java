package io.firstclaim.processor.service;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.config.Settings;
import io.firstclaim.processor.engine.consumer.Engine;
import io.firstclaim.processor.engine.consumer.KafkaClients;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.log.KafkaClientLog;
import io.firstclaim.processor.service.metrics.EngineMetrics;
import io.firstclaim.processor.service.store.LockStore;
import io.firstclaim.processor.service.store.Upkeep;
import io.firstclaim.processor.engine.topic.Topics;
import io.micronaut.context.BeanProvider;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One instance from start to stop. */
@Singleton
public class Service {
  private static final Logger LOG = LoggerFactory.getLogger(Service.class);
  private static final Duration LOOK_EVERY = Duration.ofMillis(500);
  private static final Duration SAY_EVERY = Duration.ofSeconds(15);
  private static final Duration KAFKA_LIMIT = Duration.ofSeconds(3);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final ServiceSettings given;
  private final Settings settings;
  private final LockStore store;
  private final Upkeep upkeep;
  private final KafkaClients clients;
  private final BeanProvider<Producer<byte[], byte[]>> producer;
  private final BeanProvider<Admin> admin;
  private final RecordHandler handler;
  private final EngineMetrics metrics;
  private final TimeSource time;
  private volatile @Nullable Engine engine;
  private volatile @Nullable String waitsFor = "its start";
  private volatile @Nullable Thread starter;

  Service(
      ServiceSettings given,
      LockStore store,
      Upkeep upkeep,
      KafkaClients clients,
      BeanProvider<Producer<byte[], byte[]>> producer,
      BeanProvider<Admin> admin,
      RecordHandler handler,
      EngineMetrics metrics,
      TimeSource time) {
    this.given = given;
    this.settings = given.engine();
    this.store = store;
    this.upkeep = upkeep;
    this.clients = clients;
    this.producer = producer;
    this.admin = admin;
    this.handler = handler;
    this.metrics = metrics;
    this.time = time;
  }

  /** A question that is asked until it is answered. */
  private interface Question<T> {
    /** The answer, or what is to be waited for. */
    Answer<T> ask() throws InterruptedException;
  }

  private record Answer<T>(@Nullable T value, @Nullable String waitsFor) {}

  /** Waits for the lock store and for Kafka, then begins to process, and returns. */
  void run() throws InterruptedException {
    starter = Thread.currentThread();
    boolean _ = await(this::kafkaHasAddress);
    ClaimStore claims = await(this::openStore);
    boolean _ = await(this::openHandler);
    KafkaClientLog.quiet();
    boolean _ = await(this::kafkaAnswers);
    KafkaClientLog.asConfigured();
    boolean _ = await(this::topicsReady);
    Engine started =
        new Engine(
            settings, clients, producer.get(), claims, handler, metrics, time, Application::fail);
    metrics.observe(started);
    started.start();
    engine = started;
    waitsFor = null;
    starter = null;
    LOG.info(
        "Zone {} as {} processes {} with handler {}, claims in {}",
        settings.zone(),
        settings.claim().store().holder(),
        String.join(",", settings.input().topics()),
        given.inForce().get("firstclaim.handler.type"),
        store.name());
  }

  /** Stops in good order. */
  void stop() throws InterruptedException {
    Thread starting = starter;
    if (starting != null) {
      starting.interrupt();
    }
    Engine running = engine;
    if (running != null) { // else there is nothing to flush, or not even a client
      running.stop();
      producer.get().close(CLOSE_LIMIT);
      admin.get().close(CLOSE_LIMIT);
    }
  }

  /** The engine, once it runs. */
  public Optional<Engine> engine() {
    return Optional.ofNullable(engine);
  }

  /** What the start is waiting for; null once the instance runs. */
  public @Nullable String waitsFor() {
    return waitsFor;
  }

  /** Asked first: Kafka's clients cannot be made before. */
  private Answer<Boolean> kafkaHasAddress() {
    return clients.hasAddress()
        ? new Answer<>(true, null)
        : new Answer<>(
            null,
            "Kafka: no name in kafka.bootstrap.servers=%s has an address"
                .formatted(clients.bootstrapServers()));
  }

  /** Asked for a short while only: the admin client itself would be silent for a minute. */
  private Answer<Boolean> kafkaAnswers() throws InterruptedException {
    try {
      var options = new DescribeClusterOptions().timeoutMs((int) KAFKA_LIMIT.toMillis());
      LOG.debug("Cluster {}", admin.get().describeCluster(options).clusterId().get());
      return new Answer<>(true, null);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RetriableException) {
        return new Answer<>(
            null,
            "Kafka: nothing answers at kafka.bootstrap.servers=%s; is it up, are host, port and kafka.security.protocol right?"
                .formatted(clients.bootstrapServers()));
      }
      throw new KafkaException(e.getCause());
    }
  }

  private Answer<ClaimStore> openStore() {
    try {
      return new Answer<>(store.open(time, metrics, upkeep), null);
    } catch (StoreUnavailableException e) {
      return new Answer<>(null, "the lock store: " + e.getMessage());
    }
  }

  private Answer<Boolean> openHandler() throws InterruptedException {
    try {
      handler.open();
      return new Answer<>(true, null);
    } catch (StoreUnavailableException e) {
      return new Answer<>(null, "the handler: " + e.getMessage());
    }
  }

  private Answer<Boolean> topicsReady() throws InterruptedException {
    return new Topics(settings)
        .ready(admin.get())
        .map(missing -> new Answer<Boolean>(null, missing))
        .orElseGet(() -> new Answer<>(true, null));
  }

  private <T> T await(Question<T> question) throws InterruptedException {
    long said = 0;
    while (true) {
      Answer<T> answer = question.ask();
      if (answer.value() != null) {
        return answer.value();
      }
      waitsFor = answer.waitsFor();
      if (said == 0 || time.now().ticks() - said > SAY_EVERY.toNanos()) {
        said = time.now().ticks();
        LOG.warn("Waiting for {}", answer.waitsFor());
      }
      Thread.sleep(LOOK_EVERY);
    }
  }
}
