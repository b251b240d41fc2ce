package io.firstclaim.processor.service.health;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.consumer.Engine;
import io.firstclaim.processor.service.Service;
import io.micronaut.context.BeanProvider;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.AbstractHealthIndicator;
import io.micronaut.management.health.indicator.annotation.Readiness;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;

/** Whether the broker answers and is polled. */
@Singleton
@Readiness
class KafkaHealth extends AbstractHealthIndicator<Map<String, Object>> {
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final Duration SILENT = Duration.ofSeconds(30);

  private final Service service;
  private final BeanProvider<Admin> admin;
  private final TimeSource time;

  KafkaHealth(Service service, BeanProvider<Admin> admin, TimeSource time) {
    this.service = service;
    this.admin = admin;
    this.time = time;
  }

  @Override
  protected String getName() {
    return "kafka";
  }

  @Override
  protected Map<String, Object> getHealthInformation() {
    Map<String, Object> details = new LinkedHashMap<>();
    Optional<Engine> engine = service.engine();
    healthStatus = HealthStatus.DOWN;
    if (engine.isEmpty()) {
      details.put("waitsFor", String.valueOf(service.waitsFor()));
      return details;
    }
    Duration silent = time.now().since(engine.get().lastPoll());
    details.put("lastPollMillisAgo", silent.toMillis());
    try {
      details.put(
          "brokers",
          admin
              .get()
              .describeCluster()
              .nodes()
              .get(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
              .size());
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
}
