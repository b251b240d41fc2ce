package io.firstclaim.processor.service.health;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.service.instance.Service;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.AbstractHealthIndicator;
import io.micronaut.management.health.indicator.annotation.Readiness;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClient;
import org.jspecify.annotations.Nullable;

/** Whether the broker answers and is polled. */
@Singleton
@Readiness
class KafkaHealth extends AbstractHealthIndicator<Map<String, Object>> {
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final Duration SILENT = Duration.ofSeconds(30);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final Service service;
  private final Map<String, Object> kafka;
  private final TimeSource time;
  private final EngineListener listener;
  private @Nullable AdminClient admin;

  KafkaHealth(Service service, ServiceSettings settings, TimeSource time, EngineListener listener) {
    this.service = service;
    this.kafka = settings.engine().kafka();
    this.time = time;
    this.listener = listener;
  }

  @Override
  protected String getName() {
    return "kafka";
  }

  @Override
  protected Map<String, Object> getHealthInformation() {
    healthStatus = HealthStatus.DOWN;
    return switch (service.state()) {
      case EngineState.Starting(String what) -> Map.of("waitsFor", what);
      case EngineState.Running running -> ask(running);
      case EngineState.Ended _ -> Map.of("fault", "ended");
    };
  }

  private Map<String, Object> ask(EngineState.Running running) {
    Map<String, Object> details = new LinkedHashMap<>();
    Duration silent = time.now().since(running.lastPoll());
    details.put("lastPollMillisAgo", silent.toMillis());
    running.paused().ifPresent(why -> details.put("paused", why));
    try {
      details.put(
          "brokers",
          admin().describeCluster().nodes().get(LIMIT.toMillis(), TimeUnit.MILLISECONDS).size());
      if (silent.compareTo(SILENT) < 0) {
        healthStatus = HealthStatus.UP;
      }
    } catch (ExecutionException | TimeoutException e) {
      details.put("fault", "no answer within " + LIMIT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return details;
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
