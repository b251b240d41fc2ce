package io.firstclaim.processor.audit;

import io.firstclaim.processor.audit.api.AuditSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The topic that violations go to: created if it is missing, and kept for ever. */
final class ViolationsTopic {
  private static final Logger LOG = LoggerFactory.getLogger(ViolationsTopic.class);
  private static final short DEFAULT_REPLICATION = -1;

  private final AuditSettings settings;

  ViolationsTopic(AuditSettings settings) {
    this.settings = settings;
  }

  /**
   * Looks once, and creates it if it is not there.
   *
   * @return what is in the way, if waiting may mend it; empty if the topic is there
   * @throws IllegalStateException with the command that creates it, if the broker does not let us
   */
  Optional<String> ready(Admin admin) throws InterruptedException {
    try {
      if (isThere(admin, settings.outcomesTopic())) {
        if (!isThere(admin, settings.violationsTopic())) {
          create(admin);
        }
        return Optional.empty();
      }
      return Optional.of("topic %s is missing".formatted(settings.outcomesTopic()));
    } catch (ExecutionException e) {
      return Optional.of("Kafka: " + e.getCause());
    }
  }

  private static boolean isThere(Admin admin, String topic)
      throws ExecutionException, InterruptedException {
    try {
      var _ = admin.describeTopics(List.of(topic)).allTopicNames().get();
      return true;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException) {
        return false;
      }
      throw e;
    }
  }

  private void create(Admin admin) throws ExecutionException, InterruptedException {
    String name = settings.violationsTopic();
    try {
      NewTopic topic =
          new NewTopic(name, 1, DEFAULT_REPLICATION)
              .configs(
                  Map.of(
                      TopicConfig.RETENTION_MS_CONFIG,
                      "-1",
                      TopicConfig.CLEANUP_POLICY_CONFIG,
                      TopicConfig.CLEANUP_POLICY_DELETE));
      var _ = admin.createTopics(List.of(topic)).all().get();
      LOG.info("Created topic {}", name);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof TopicExistsException) {
        return; // another instance has created it first
      }
      if (e.getCause() instanceof RetriableException) {
        throw e;
      }
      throw new IllegalStateException(
          "topic %s is missing and the broker did not let it be created (%s); create it with: kafka-topics.sh --bootstrap-server %s --create --topic %s --partitions 1 --config retention.ms=-1 --config cleanup.policy=delete"
              .formatted(name, e.getCause(), settings.kafka().get("bootstrap.servers"), name),
          e);
    }
  }
}
