package io.firstclaim.processor.service.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;

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
    var metrics = new KafkaClientMetrics(withoutPartitions(consumer), List.of(), refresh);
    metrics.bindTo(registry);
    consumers.put(consumer, metrics);
  }

  /**
   * The consumer, as one that tells nothing of single partitions: where it does, Micrometer gives
   * up what it tells of all under the same name, such as the greatest lag.
   */
  private static Consumer<?, ?> withoutPartitions(Consumer<?, ?> consumer) {
    return (Consumer<?, ?>)
        Proxy.newProxyInstance(
            Consumer.class.getClassLoader(),
            new Class<?>[] {Consumer.class},
            (_, method, given) -> {
              if (!method.getName().equals("metrics")) {
                return method.invoke(consumer, given);
              }
              Map<MetricName, Metric> metrics = new HashMap<>(consumer.metrics());
              metrics.keySet().removeIf(name -> name.tags().containsKey("partition"));
              return metrics;
            });
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
