package io.firstclaim.stack;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;

/** How many records of a topic a consumer group has not settled. */
final class GroupLag implements AutoCloseable {
  private final Admin admin;
  private final String topic;

  GroupLag(String bootstrapServers, String topic) {
    this.admin =
        Admin.create(
            Map.of(
                "bootstrap.servers",
                bootstrapServers,
                "client.id",
                "group-lag",
                "default.api.timeout.ms",
                (int) Work.LONGEST_OUTAGE.toMillis()));
    this.topic = topic;
  }

  long of(String group) {
    Map<TopicPartition, OffsetAndMetadata> committed =
        get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
    long lag = 0;
    for (Map.Entry<TopicPartition, Long> end : ends().entrySet()) {
      OffsetAndMetadata offset = committed.get(end.getKey());
      lag += end.getValue() - (offset == null ? 0 : offset.offset());
    }
    return lag;
  }

  private Map<TopicPartition, Long> ends() {
    var description = get(admin.describeTopics(List.of(topic)).allTopicNames());
    Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
    description
        .values()
        .forEach(
            each ->
                each.partitions()
                    .forEach(
                        partition ->
                            wanted.put(
                                new TopicPartition(each.name(), partition.partition()),
                                OffsetSpec.latest())));
    Map<TopicPartition, Long> ends = new HashMap<>();
    get(admin.listOffsets(wanted).all())
        .forEach((partition, info) -> ends.put(partition, info.offset()));
    return ends;
  }

  @Override
  public void close() {
    admin.close();
  }

  private static <T> T get(KafkaFuture<T> future) {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw new JobFailure("Kafka cannot be asked for offsets: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new JobFailure("interrupted", e);
    }
  }
}
