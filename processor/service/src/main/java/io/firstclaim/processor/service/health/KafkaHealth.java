package io.firstclaim.processor.service.health;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.TakesRecords;
import io.firstclaim.processor.service.instance.Service;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClient;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether the broker answers and is polled. */
@Singleton
@Readiness
@Requires(condition = TakesRecords.class)
class KafkaHealth implements HealthIndicator {
  private static final Logger LOG = LoggerFactory.getLogger(KafkaHealth.class);
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final Duration SILENT = Duration.ofSeconds(30);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final Service service;
  private final Map<String, Object> kafka;
  private final TimeSource time;
  private final EngineListener listener;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().name("firstclaim-kafka-health").daemon().factory());
  private @Nullable AdminClient admin; // used by that thread alone

  /** How many brokers there are; empty if they did not say. */
  private final SharedAnswer<OptionalInt> brokers;

  // It did when the engine started, and was not asked since.
  private volatile boolean answers = true;

  KafkaHealth(Service service, ServiceSettings settings, TimeSource time, EngineListener listener) {
    this.service = service;
    this.kafka = settings.engine().kafka();
    this.time = time;
    this.listener = listener;
    this.brokers = new SharedAnswer<>(this::ask, thread, time);
  }

  @Override
  public Publisher<HealthResult> getResult() {
    return switch (service.state()) {
      case EngineState.Starting(String what) -> Publishers.just(down(Map.of("waitsFor", what)));
      case EngineState.Running running ->
          Publishers.fromCompletableFuture(
              () -> brokers.get().thenApply(number -> result(running, number)));
      case EngineState.Ended _ -> Publishers.just(down(Map.of("fault", "ended")));
    };
  }

  /**
   * Whether the broker is polled and has answered when it was last asked; it is asked anew, for who
   * looks next. Never waits.
   */
  boolean isUp(EngineState.Running running) {
    var _ = brokers.get();
    return answers && isPolled(running);
  }

  private boolean isPolled(EngineState.Running running) {
    return time.now().since(running.lastPoll()).compareTo(SILENT) < 0;
  }

  private static HealthResult down(Map<String, Object> details) {
    return HealthResult.builder("kafka", HealthStatus.DOWN).details(details).build();
  }

  private HealthResult result(EngineState.Running running, OptionalInt number) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("lastPollMillisAgo", time.now().since(running.lastPoll()).toMillis());
    running.paused().ifPresent(why -> details.put("paused", why));
    if (number.isEmpty()) {
      details.put("fault", "no answer within " + LIMIT);
      return down(details);
    }
    details.put("brokers", number.getAsInt());
    return isPolled(running)
        ? HealthResult.builder("kafka", HealthStatus.UP).details(details).build()
        : down(details);
  }

  private OptionalInt ask() {
    OptionalInt number = count();
    answers = number.isPresent();
    return number;
  }

  private OptionalInt count() {
    try {
      return OptionalInt.of(
          admin().describeCluster().nodes().get(LIMIT.toMillis(), TimeUnit.MILLISECONDS).size());
    } catch (ExecutionException | TimeoutException | RuntimeException e) {
      LOG.debug("Kafka does not answer", e);
      return OptionalInt.empty();
    } catch (Error e) { // or it would be thrown to all who look, and nobody would ask again
      LOG.error("Kafka could not be asked whether it answers; it is asked again", e);
      return OptionalInt.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return OptionalInt.empty();
    }
  }

  /** Made when first needed: not before Kafka has an address. */
  private Admin admin() {
    AdminClient made = admin;
    if (made == null) {
      made = AdminClient.create(new HashMap<>(kafka));
      listener.opened(made);
      admin = made;
    }
    return made;
  }

  @PreDestroy
  void close() {
    thread.execute(
        () -> {
          if (admin != null) {
            admin.close(Duration.ZERO); // nobody needs an answer any more
          }
        });
    thread.shutdown();
    try {
      boolean _ = thread.awaitTermination(CLOSE_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
