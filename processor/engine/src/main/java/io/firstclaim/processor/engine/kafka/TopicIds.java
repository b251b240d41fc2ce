package io.firstclaim.processor.engine.kafka;

import io.firstclaim.lock.OneLine;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The IDs that Kafka gives topics: one that is deleted and made anew under its name has another (<a
 * href="https://cwiki.apache.org/confluence/display/KAFKA/KIP-516%3A+Topic+Identifiers">KIP-516</a>).
 * Thread-safe.
 */
public final class TopicIds {
  private static final Logger LOG = LoggerFactory.getLogger(TopicIds.class);
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final Supplier<Admin> admins;
  private final Collection<String> topics;
  private final Map<String, String> ids = new ConcurrentHashMap<>();

  /**
   * The IDs of these topics, not asked for yet.
   *
   * @param admins makes a client, which is closed here
   */
  public TopicIds(Supplier<Admin> admins, Collection<String> topics) {
    this.admins = admins;
    this.topics = topics;
  }

  /**
   * The ID of this topic, as was last asked: 22 characters of {@code A-Za-z0-9_-}.
   *
   * @throws IllegalStateException if it was never answered
   */
  public String of(String topic) {
    String id = ids.get(topic);
    if (id == null) {
      throw new IllegalStateException("the ID of topic %s is not known yet".formatted(topic));
    }
    return id;
  }

  /**
   * Asks Kafka; where it does not answer, what is known stays.
   *
   * @return whether all are known
   */
  public boolean ask() throws InterruptedException {
    if (topics.isEmpty()) {
      return true;
    }
    Admin admin = admins.get();
    try {
      var answers =
          admin
              .describeTopics(topics, new DescribeTopicsOptions().timeoutMs((int) LIMIT.toMillis()))
              .topicNameValues();
      for (var answer : answers.entrySet()) {
        ids.put(answer.getKey(), answer.getValue().get().topicId().toString());
      }
    } catch (ExecutionException | KafkaException e) {
      LOG.warn("The IDs of topics {} could not be asked for: {}", topics, OneLine.of(e));
    } finally {
      admin.close(Duration.ZERO);
    }
    return ids.keySet().containsAll(topics);
  }
}
