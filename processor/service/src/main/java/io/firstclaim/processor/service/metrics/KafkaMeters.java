package io.firstclaim.processor.service.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import java.util.List;
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

  // The metrics are never closed: the clients live as long as the process.
  @SuppressWarnings("resource")
  void bind(Consumer<?, ?> consumer) {
    new KafkaClientMetrics(consumer, List.of(), refresh).bindTo(registry);
  }

  @SuppressWarnings("resource")
  void bind(AdminClient admin) {
    new KafkaClientMetrics(admin, List.of(), refresh).bindTo(registry);
  }

  @SuppressWarnings("resource")
  void bind(Producer<?, ?> producer) {
    new KafkaClientMetrics(producer, List.of(), refresh).bindTo(registry);
  }
}
