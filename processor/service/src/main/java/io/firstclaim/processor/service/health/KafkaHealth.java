package io.firstclaim.processor.service.health;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.instance.Service;
import io.micronaut.core.async.publisher.AsyncSingleResultPublisher;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import io.micronaut.scheduling.TaskExecutors;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/** Whether the broker answers and is polled. Asks it on a thread that may wait for the answer. */
@Singleton
@Readiness
class KafkaHealth implements HealthIndicator {
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final Duration SILENT = Duration.ofSeconds(30);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final Service service;
  private final Map<String, Object> kafka;
  private final TimeSource time;
  private final EngineListener listener;
  private final ExecutorService threads;
  private @Nullable AdminClient admin;

  KafkaHealth(
      Service service,
      ServiceSettings settings,
      TimeSource time,
      EngineListener listener,
      @Named(TaskExecutors.IO) ExecutorService threads) {
    this.service = service;
    this.kafka = settings.engine().kafka();
    this.time = time;
    this.listener = listener;
    this.threads = threads;
  }

  @Override
  public Publisher<HealthResult> getResult() {
    return new AsyncSingleResultPublisher<>(threads, this::result);
  }

  private HealthResult result() {
    return switch (service.state()) {
      case EngineState.Starting(String what) -> down(Map.of("waitsFor", what));
      case EngineState.Running running -> ask(running);
      case EngineState.Ended _ -> down(Map.of("fault", "ended"));
    };
  }

  private static HealthResult down(Map<String, Object> details) {
    return HealthResult.builder("kafka", HealthStatus.DOWN).details(details).build();
  }

  private HealthResult ask(EngineState.Running running) {
    Map<String, Object> details = new LinkedHashMap<>();
    Duration silent = time.now().since(running.lastPoll());
    details.put("lastPollMillisAgo", silent.toMillis());
    running.paused().ifPresent(why -> details.put("paused", why));
    try {
      details.put(
          "brokers",
          admin().describeCluster().nodes().get(LIMIT.toMillis(), TimeUnit.MILLISECONDS).size());
    } catch (ExecutionException | TimeoutException | KafkaException e) {
      details.put("fault", "no answer within " + LIMIT);
      return down(details);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return down(details);
    }
    return silent.compareTo(SILENT) < 0
        ? HealthResult.builder("kafka", HealthStatus.UP).details(details).build()
        : down(details);
  }

  /** Made when first needed: not before Kafka has an address. */
  private synchronized Admin admin() {
    AdminClient made = admin;
    if (made == null) {
      made = AdminClient.create(new HashMap<>(kafka));
      listener.opened(made);
      admin = made;
    }
    return made;
  }

  @PreDestroy
  synchronized void close() {
    if (admin != null) {
      admin.close(CLOSE_LIMIT);
    }
  }
}
