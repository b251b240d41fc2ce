package io.firstclaim.simulation.kafka;

import io.firstclaim.simulation.world.Machine;
import java.lang.reflect.Constructor;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsResult;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.DescribeConfigsResult;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.jspecify.annotations.Nullable;

/** What the product asks of Kafka's admin client. */
final class SimulatedAdmin {
  private static final Duration A_TRIP = Duration.ofMillis(8);
  private static final Duration ANSWERED_WITHIN = Duration.ofSeconds(3);

  /** Records are kept for a day, so that claims need not be kept for long. */
  private static final Config CONFIG =
      new Config(
          List.of(
              new ConfigEntry(TopicConfig.CLEANUP_POLICY_CONFIG, "delete"),
              new ConfigEntry(TopicConfig.RETENTION_MS_CONFIG, "86400000"),
              new ConfigEntry(TopicConfig.SEGMENT_MS_CONFIG, "3600000"),
              new ConfigEntry(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, "1048588")));

  private final Broker broker;
  private final Machine machine;

  SimulatedAdmin(Broker broker, Machine machine) {
    this.broker = broker;
    this.machine = machine;
  }

  /** An answer, or a fault after a while. */
  private <T> KafkaFuture<T> answer(Supplier<T> what) {
    LockSupport.parkNanos(broker.world().upTo(A_TRIP).toNanos());
    KafkaFutureImpl<T> future = new KafkaFutureImpl<>();
    if (!broker.hears(machine) || !broker.isHeardBy(machine)) {
      LockSupport.parkNanos(ANSWERED_WITHIN.toNanos());
      future.completeExceptionally(new TimeoutException("no answer"));
      return future;
    }
    try {
      future.complete(what.get());
    } catch (RuntimeException e) {
      future.completeExceptionally(e);
    }
    return future;
  }

  private <K, T> Map<K, KafkaFuture<T>> each(Collection<K> all, Function<K, T> what) {
    Map<K, KafkaFuture<T>> answers = new TreeMap<>(Comparator.comparing(Object::toString));
    all.forEach(one -> answers.put(one, answer(() -> what.apply(one))));
    return answers;
  }

  /** Kafka keeps the constructors of its answers to itself. */
  private static <T> T result(Class<T> type, @Nullable Object... given) {
    for (Constructor<?> each : type.getDeclaredConstructors()) {
      if (each.getParameterCount() == given.length) {
        try {
          each.setAccessible(true);
          return type.cast(each.newInstance(given));
        } catch (ReflectiveOperationException e) {
          throw new IllegalStateException(e);
        }
      }
    }
    throw new IllegalStateException(
        "no constructor of %s for %s".formatted(type, Arrays.toString(given)));
  }

  DescribeClusterResult describeCluster(DescribeClusterOptions options) {
    return result(
        DescribeClusterResult.class,
        answer(() -> (Collection<Node>) List.of(Node.noNode())),
        answer(Node::noNode),
        answer(() -> "simulated"),
        answer(Set::of));
  }

  DescribeTopicsResult describeTopics(Collection<String> names) {
    return result(DescribeTopicsResult.class, null, each(names, this::described));
  }

  DescribeTopicsResult describeTopics(Collection<String> names, DescribeTopicsOptions options) {
    return describeTopics(names);
  }

  private TopicDescription described(String topic) {
    if (!broker.has(topic)) {
      throw new UnknownTopicOrPartitionException(topic);
    }
    return new TopicDescription(
        topic,
        false,
        broker.partitions(topic).stream()
            .map(
                each ->
                    new TopicPartitionInfo(each.partition(), Node.noNode(), List.of(), List.of()))
            .toList(),
        Set.of(),
        new Uuid(1, topic.hashCode()));
  }

  DescribeConfigsResult describeConfigs(Collection<ConfigResource> of) {
    return result(DescribeConfigsResult.class, each(of, _ -> CONFIG));
  }

  CreateTopicsResult createTopics(Collection<NewTopic> topics) {
    return result(
        CreateTopicsResult.class,
        each(
                topics.stream()
                    .collect(Collectors.toMap(NewTopic::name, NewTopic::numPartitions))
                    .entrySet(),
                wanted -> {
                  if (broker.has(wanted.getKey())) {
                    throw new TopicExistsException(wanted.getKey());
                  }
                  broker.create(wanted.getKey(), wanted.getValue());
                  return (Object) wanted.getKey();
                })
            .entrySet()
            .stream()
            .collect(Collectors.toMap(each -> each.getKey().getKey(), Map.Entry::getValue)));
  }

  void close(Duration within) {
    // there is nothing to close
  }

  @Override
  public String toString() {
    return "admin of " + machine;
  }
}
