package io.firstclaim.processor.engine.kafka;

import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.Mode;
import io.firstclaim.processor.engine.api.ShortRetentionException;
import io.firstclaim.processor.engine.api.TopicRefusedException;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The topics that an instance needs: the input must be there, outcomes and dead letters are created
 * if missing, and finished claims must be kept for longer than the input.
 */
public final class Topics {
  /** How much longer claims are kept than records: zones may lag, and a rewind takes its time. */
  private static final Duration MARGIN = Duration.ofDays(1);

  private static final Logger LOG = LoggerFactory.getLogger(Topics.class);
  private static final int OUTCOME_PARTITIONS = 6;
  private static final long HEADER_ROOM = 64 << 10;
  private static final short DEFAULT_REPLICATION = -1;

  private final EngineSettings settings;

  /** The topics of these settings. */
  public Topics(EngineSettings settings) {
    this.settings = settings;
  }

  /**
   * Looks once.
   *
   * @return what to wait for, as a noun, or empty if everything is there
   * @throws ShortRetentionException if claims are forgotten before their records
   * @throws TopicRefusedException if something else is wrong that waiting does not mend
   */
  public Optional<String> ready(Admin admin) throws InterruptedException {
    try {
      SortedSet<String> missing = missing(admin, settings.input().topics());
      if (!missing.isEmpty()) {
        return Optional.of(input(missing));
      }
      requireRetention(admin);
      createMissing(admin);
      return Optional.empty();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RetriableException) {
        return Optional.of("Kafka: " + e.getCause());
      }
      throw new KafkaException(e.getCause());
    }
  }

  /** The missing input topics, and how to create the first. */
  String input(SortedSet<String> missing) {
    return "input topic %s; create it with: %s"
        .formatted(
            String.join(", ", missing),
            command(new NewTopic(missing.first(), Optional.empty(), Optional.empty())));
  }

  /** The command that creates this topic by hand. */
  String command(NewTopic topic) {
    StringBuilder command =
        new StringBuilder("kafka-topics.sh --bootstrap-server ")
            .append(settings.kafka().get("bootstrap.servers"))
            .append(" --create --topic ")
            .append(topic.name());
    if (topic.numPartitions() > 0) {
      command.append(" --partitions ").append(topic.numPartitions());
    }
    if (topic.configs() != null) {
      new TreeMap<>(topic.configs())
          .forEach(
              (key, value) -> command.append(" --config ").append(key).append('=').append(value));
    }
    return command.toString();
  }

  private static SortedSet<String> missing(Admin admin, Collection<String> names)
      throws ExecutionException, InterruptedException {
    SortedSet<String> missing = new TreeSet<>();
    for (Map.Entry<String, KafkaFuture<TopicDescription>> topic :
        admin.describeTopics(names).topicNameValues().entrySet()) {
      try {
        topic.getValue().get();
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
          throw e;
        }
        missing.add(topic.getKey());
      }
    }
    return missing;
  }

  /**
   * A record that can be delivered again after its claim was forgotten would be processed again.
   * Kafka deletes a whole segment once its newest record is older than {@code retention.ms}, and
   * begins a new one after {@code segment.ms} (<a
   * href="https://kafka.apache.org/documentation/#topicconfigs_segment.ms">topic settings</a>): on
   * a topic that is written to seldom, a record stays for as long as both together.
   */
  private void requireRetention(Admin admin) throws ExecutionException, InterruptedException {
    Duration claims = settings.claim().store().retention();
    for (String topic : settings.input().topics()) {
      Optional<Duration> kept = keptFor(config(admin, topic));
      Optional<Duration> horizon = settings.input().replayHorizon();
      if (kept.isEmpty() && horizon.isEmpty()) {
        throw new ShortRetentionException(
            "topic %s keeps records for ever, and a retention of %s lets a rewind process them again: give the replay horizon, which says how far back it is ever rewound"
                .formatted(topic, days(claims)));
      }
      Duration replayed =
          Stream.concat(kept.stream(), horizon.stream())
              .min(Comparator.naturalOrder())
              .orElseThrow();
      Duration needed = replayed.plus(MARGIN);
      if (claims.compareTo(needed) < 0) {
        throw new ShortRetentionException(
            "topic %s can deliver records for %s (its retention.ms and segment.ms together, or the replay horizon) and zones may lag by %s, but claims have a retention of %s: give at least %s, a shorter replay horizon, or the topic a shorter segment.ms"
                .formatted(topic, days(replayed), days(MARGIN), days(claims), days(needed)));
      }
    }
  }

  /** How long a topic keeps its records; empty: for ever. */
  private static Optional<Duration> keptFor(Config config) {
    // A topic that is only compacted keeps the last record of every key.
    if (!policy(config).contains(TopicConfig.CLEANUP_POLICY_DELETE)) {
      return Optional.empty();
    }
    long retention = Long.parseLong(config.get(TopicConfig.RETENTION_MS_CONFIG).value());
    long segment = Long.parseLong(config.get(TopicConfig.SEGMENT_MS_CONFIG).value());
    return retention < 0
        ? Optional.empty()
        : Optional.of(Duration.ofMillis(retention).plusMillis(segment));
  }

  private static String policy(Config config) {
    return config.get(TopicConfig.CLEANUP_POLICY_CONFIG).value();
  }

  private void createMissing(Admin admin) throws ExecutionException, InterruptedException {
    Set<String> wanted = new TreeSet<>();
    settings.outcomesTopic().ifPresent(wanted::add);
    if (settings.mode() == Mode.PROCESS) {
      settings.input().topics().forEach(input -> wanted.add(settings.deadLetterTopicOf(input)));
    }
    SortedSet<String> missing = missing(admin, wanted);
    for (String name : missing) {
      create(admin, definition(admin, name));
    }
    wanted.removeAll(missing);
    for (String name : wanted) {
      requireNotCompacted(admin, name, settings.kafka());
    }
  }

  /**
   * Requires that a topic keeps every record of a key, and takes records without one.
   *
   * @param kafka the clients' settings, for the command in the message
   * @throws TopicRefusedException if it is compacted, with the command that mends it
   */
  public static void requireNotCompacted(Admin admin, String topic, Map<String, ?> kafka)
      throws ExecutionException, InterruptedException {
    String policy = policy(config(admin, topic));
    if (policy.contains(TopicConfig.CLEANUP_POLICY_COMPACT)) {
      throw new TopicRefusedException(
          "topic %s has cleanup.policy=%s, by which all records of a key but the last are deleted and those without a key are refused; mend it with: kafka-configs.sh --bootstrap-server %s --alter --entity-type topics --entity-name %s --add-config cleanup.policy=delete"
              .formatted(topic, policy, kafka.get("bootstrap.servers"), topic));
    }
  }

  private NewTopic definition(Admin admin, String name)
      throws ExecutionException, InterruptedException {
    if (settings.outcomesTopic().equals(Optional.of(name))) {
      return new NewTopic(name, OUTCOME_PARTITIONS, DEFAULT_REPLICATION)
          .configs(Map.of(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE));
    }
    int partitions = 1;
    int maxMessage = 0;
    for (String input : settings.input().topics()) {
      if (settings.deadLetterTopicOf(input).equals(name)) {
        int inputPartitions =
            admin.describeTopics(List.of(input)).allTopicNames().get().values().stream()
                .mapToInt(described -> described.partitions().size())
                .sum();
        partitions = Math.max(partitions, inputPartitions);
        maxMessage =
            Math.max(
                maxMessage,
                Integer.parseInt(
                    config(admin, input).get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG).value()));
      }
    }
    // Dead letters stay until somebody has dealt with them.
    return new NewTopic(name, partitions, DEFAULT_REPLICATION)
        .configs(
            Map.of(
                TopicConfig.CLEANUP_POLICY_CONFIG,
                TopicConfig.CLEANUP_POLICY_DELETE,
                TopicConfig.RETENTION_MS_CONFIG,
                "-1",
                TopicConfig.MAX_MESSAGE_BYTES_CONFIG,
                Long.toString(Math.min(Integer.MAX_VALUE, maxMessage + HEADER_ROOM))));
  }

  private void create(Admin admin, NewTopic topic) throws ExecutionException, InterruptedException {
    try {
      admin.createTopics(List.of(topic)).all().get();
      LOG.info("Created topic {} with {} partitions", topic.name(), topic.numPartitions());
    } catch (ExecutionException e) {
      if (e.getCause() instanceof TopicExistsException) {
        return; // another instance has created it first
      }
      if (e.getCause() instanceof RetriableException) {
        throw e;
      }
      throw new TopicRefusedException(
          "topic %s is missing and the broker did not let it be created (%s); create it with: %s"
              .formatted(topic.name(), e.getCause(), command(topic)));
    }
  }

  private static Config config(Admin admin, String topic)
      throws ExecutionException, InterruptedException {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    return Objects.requireNonNull(
        admin.describeConfigs(List.of(resource)).all().get().get(resource));
  }

  private static String days(Duration duration) {
    return duration.toSeconds() % 86_400 == 0 ? duration.toDays() + "d" : duration.toString();
  }
}
