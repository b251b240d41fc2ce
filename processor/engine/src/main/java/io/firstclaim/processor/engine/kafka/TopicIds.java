package io.firstclaim.processor.engine.kafka;

import io.firstclaim.lock.OneLine;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The IDs that Kafka gives topics: one that is deleted and made anew under its name has another (<a
 * href="https://cwiki.apache.org/confluence/display/KAFKA/KIP-516%3A+Topic+Identifiers">KIP-516</a>).
 * What is known may be read by any thread; one thread at a time asks.
 */
public final class TopicIds implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TopicIds.class);
  private static final Duration LIMIT = Duration.ofSeconds(5);
  private static final int COMMITTED_LIMIT = (int) Duration.ofSeconds(1).toMillis();

  private final Supplier<Admin> admins;
  private final Collection<String> topics;
  private final Map<String, String> ids = new ConcurrentHashMap<>();
  private @Nullable Admin admin;
  private KafkaFuture<Void> question = KafkaFuture.completedFuture(null);
  private volatile boolean unanswered;

  /**
   * The IDs of these topics, not asked for yet.
   *
   * @param admins makes a client, which is closed with this
   */
  public TopicIds(Supplier<Admin> admins, Collection<String> topics) {
    this.admins = admins;
    this.topics = topics;
  }

  /**
   * The ID of this topic, as was last asked: 22 characters of {@code A-Za-z0-9_-}; empty if it was
   * never answered.
   */
  public String of(String topic) {
    return ids.getOrDefault(topic, "");
  }

  /**
   * Asks Kafka by this client; where it does not answer, what is known stays.
   *
   * @return whether all are known
   */
  public boolean ask(Admin by) throws InterruptedException {
    return ask(() -> by);
  }

  /**
   * Asks as above, by a client that is kept until the end; if that cannot be made, there was no
   * answer.
   */
  public boolean ask() throws InterruptedException {
    return ask(this::admin);
  }

  private boolean ask(Supplier<Admin> by) throws InterruptedException {
    if (!topics.isEmpty()) {
      try {
        Void _ = question(by.get()).get();
      } catch (ExecutionException | KafkaException e) {
        notAnswered(e);
      }
    }
    return ids.keySet().containsAll(topics);
  }

  /** Asks and does not wait: the answer is known once it is there. One question at a time. */
  public void askSoon() {
    if (topics.isEmpty() || !question.isDone()) {
      return;
    }
    try {
      question = question(admin()).whenComplete(this::answered);
    } catch (KafkaException e) {
      notAnswered(e);
    }
  }

  /**
   * What a group has committed of these partitions, as Kafka says; not by the group's own consumer,
   * which may just be asking the same.
   *
   * @return empty if it is not known now; without those of which nothing is committed
   */
  public Optional<Map<TopicPartition, OffsetAndMetadata>> committed(
      String group, Collection<TopicPartition> partitions) throws InterruptedException {
    if (topics.isEmpty()) {
      return Optional.of(Map.of());
    }
    try {
      Map<TopicPartition, OffsetAndMetadata> offsets =
          new HashMap<>(
              admin()
                  .listConsumerGroupOffsets(
                      Map.of(group, new ListConsumerGroupOffsetsSpec().topicPartitions(partitions)),
                      new ListConsumerGroupOffsetsOptions().timeoutMs(COMMITTED_LIMIT))
                  .partitionsToOffsetAndMetadata(group)
                  .get());
      offsets.values().removeIf(Objects::isNull);
      return Optional.of(offsets);
    } catch (ExecutionException | KafkaException e) {
      if (e.getCause() instanceof GroupIdNotFoundException) {
        return Optional.of(Map.of());
      }
      notAnswered(e);
      return Optional.empty();
    }
  }

  private KafkaFuture<Void> question(Admin by) {
    Map<String, KafkaFuture<TopicDescription>> answers =
        by.describeTopics(topics, new DescribeTopicsOptions().timeoutMs((int) LIMIT.toMillis()))
            .topicNameValues();
    return KafkaFuture.allOf(
        answers.entrySet().stream()
            .map(answer -> answer.getValue().whenComplete(learn(answer.getKey())))
            .toArray(KafkaFuture<?>[]::new));
  }

  private KafkaFuture.BiConsumer<TopicDescription, Throwable> learn(String topic) {
    return (description, fault) -> {
      if (fault == null) {
        ids.put(topic, description.topicId().toString());
      }
    };
  }

  private void answered(@Nullable Void all, @Nullable Throwable fault) {
    if (fault == null) {
      unanswered = false;
    } else {
      notAnswered(fault);
    }
  }

  /** Warns once that there was no answer, until one comes. */
  private void notAnswered(Throwable fault) {
    if (!unanswered) {
      LOG.warn(
          "The IDs of topics {}, or what is committed for them, could not be asked for: {}",
          topics,
          OneLine.of(fault));
    }
    unanswered = true;
  }

  private Admin admin() {
    if (admin == null) {
      admin = admins.get();
    }
    return admin;
  }

  /** Closes the client, so that nothing is asked any more. */
  @Override
  public void close() {
    if (admin != null) {
      admin.close(Duration.ZERO);
    }
  }
}
