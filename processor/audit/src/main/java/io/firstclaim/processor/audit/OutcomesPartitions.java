package io.firstclaim.processor.audit;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.audit.topology.OutcomesTopology;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many partitions the outcomes topic has, and which application ID the audit has by that: its
 * state has as many, for ever. Where the topic was given more, the audit begins anew under an ID
 * that says how many, with stores and offsets of its own. Used by one thread.
 */
final class OutcomesPartitions {
  private static final Logger LOG = LoggerFactory.getLogger(OutcomesPartitions.class);
  private static final Duration LOOKED_EVERY = Duration.ofSeconds(5);

  private final AuditSettings settings;
  private final Admin admin;
  private final TimeSource time;

  OutcomesPartitions(AuditSettings settings, Admin admin, TimeSource time) {
    this.settings = settings;
    this.admin = admin;
    this.time = time;
  }

  /**
   * An application ID, and how many partitions its state has.
   *
   * @param leftBehind the first application ID, whose state nobody needs any more
   */
  record Version(String applicationId, int partitions, Optional<String> leftBehind) {}

  /** The version that goes with the topic as it is; waits until the broker says how it is. */
  Version version() throws InterruptedException {
    while (true) {
      try {
        OptionalInt partitions = count(settings.outcomesTopic());
        if (partitions.isPresent()) {
          return version(partitions.getAsInt());
        }
      } catch (ExecutionException e) {
        LOG.debug("The audit's topics are looked at again", e);
      }
      time.sleep(LOOKED_EVERY);
    }
  }

  /** Waits until the topic has other partitions than those of this version. */
  Version versionAfter(Version version) throws InterruptedException {
    while (true) {
      time.sleep(LOOKED_EVERY);
      try {
        OptionalInt partitions = count(settings.outcomesTopic());
        if (partitions.isPresent() && partitions.getAsInt() != version.partitions()) {
          return version();
        }
      } catch (ExecutionException e) {
        LOG.debug("The outcomes topic is looked at again", e);
      } catch (RuntimeException | Error e) {
        // Such as no memory left for a moment: the audit runs, and nobody else looks.
        LOG.warn("The outcomes topic is looked at again", e);
      }
    }
  }

  private Version version(int partitions) throws ExecutionException, InterruptedException {
    String first = OutcomesTopology.applicationId(settings.application(), settings.zone());
    String own =
        OutcomesTopology.applicationId(settings.application(), settings.zone(), partitions);
    OptionalInt begun = count(OutcomesTopology.changelog(first));
    boolean isGoneOver = count(OutcomesTopology.changelog(own)).isPresent();
    boolean isOther = begun.isPresent() && begun.getAsInt() != partitions;
    return isGoneOver || isOther
        ? new Version(own, partitions, begun.isPresent() ? Optional.of(first) : Optional.empty())
        : new Version(first, partitions, Optional.empty());
  }

  /** How many partitions a topic has; empty if there is none, or nobody may look. */
  private OptionalInt count(String topic) throws ExecutionException, InterruptedException {
    try {
      return admin.describeTopics(List.of(topic)).allTopicNames().get().values().stream()
          .mapToInt(found -> found.partitions().size())
          .findFirst();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException
          || e.getCause() instanceof TopicAuthorizationException) {
        return OptionalInt.empty();
      }
      throw e;
    }
  }
}
