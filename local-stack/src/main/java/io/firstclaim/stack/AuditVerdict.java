package io.firstclaim.stack;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * What the audit of one zone found. Each zone's audit reads all outcomes, so that one is enough.
 *
 * @param zone whose it is
 * @param isComplete whether it has read all outcomes
 * @param violations how many it has published
 */
record AuditVerdict(String zone, boolean isComplete, long violations) {
  private static final String TOPIC = "firstclaim.violations";
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Duration PAUSE = Duration.ofMillis(200);
  private static final Duration POLL = Duration.ofMillis(200);

  /** Waits until the audit has read all that is on the outcomes topic, and counts. */
  static AuditVerdict await(String bootstrapServers, String zone) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    boolean complete;
    try (GroupLag lag = new GroupLag(bootstrapServers, Outcomes.TOPIC)) {
      complete = lag.of("firstclaim-audit-" + zone) == 0;
      while (!complete && System.nanoTime() < deadline) {
        Thread.sleep(PAUSE);
        complete = lag.of("firstclaim-audit-" + zone) == 0;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new JobFailure("interrupted", e);
    }
    return new AuditVerdict(zone, complete, complete ? count(bootstrapServers) : 0);
  }

  private static long count(String bootstrapServers) {
    long count = 0;
    Map<String, Object> config =
        Map.of("bootstrap.servers", bootstrapServers, "isolation.level", "read_committed");
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      TopicPartition partition = new TopicPartition(TOPIC, 0);
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      long end = consumer.endOffsets(List.of(partition)).getOrDefault(partition, 0L);
      while (consumer.position(partition) < end) {
        count += consumer.poll(POLL).count();
      }
    }
    return count;
  }

  /** What is wrong; nothing, if all is well. */
  List<String> problems() {
    if (!isComplete) {
      return List.of("the audit of zone %s did not read all outcomes in time".formatted(zone));
    }
    return violations == 0
        ? List.of()
        : List.of("%,d violations, see the topic %s".formatted(violations, TOPIC));
  }
}
