package io.firstclaim.processor.service.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;

/** The Kafka clients' own metrics, as Micrometer names them. Thread-safe. */
final class KafkaMeters {
  private final MeterRegistry registry;
  private final ScheduledExecutorService refresh =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("firstclaim-kafka-metrics").daemon().factory());
  private final Map<Consumer<?, ?>, KafkaClientMetrics> consumers = new ConcurrentHashMap<>();

  KafkaMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Leaves out what there is of each partition and each broker, as their number has no bound. */
  static MeterFilter bounded() {
    return MeterFilter.deny(
        id ->
            id.getName().startsWith("kafka.")
                && (id.getTag("partition") != null || id.getTag("node.id") != null));
  }

  void bind(Consumer<?, ?> consumer) {
    var metrics = new KafkaClientMetrics(consumer, List.of(), refresh);
    metrics.bindTo(registry);
    consumers.put(consumer, metrics);
  }

  /** Removes those of a consumer that is closed. */
  void unbind(Consumer<?, ?> consumer) {
    KafkaClientMetrics metrics = consumers.remove(consumer);
    if (metrics != null) {
      metrics.close();
    }
  }

  // These are never closed: the clients live as long as the process.
  @SuppressWarnings("resource")
  void bind(AdminClient admin) {
    new KafkaClientMetrics(admin, List.of(), refresh).bindTo(registry);
  }

  @SuppressWarnings("resource")
  void bind(Producer<?, ?> producer) {
    new KafkaClientMetrics(producer, List.of(), refresh).bindTo(registry);
  }
}
