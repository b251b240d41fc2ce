package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** What the broker knows of topics and consumer groups. */
final class Groups implements AutoCloseable {
  private static final String MAX_MESSAGE = Integer.toString(4 << 20);

  private final Admin admin;

  /** Of the common broker. */
  Groups() {
    this(Servers.KAFKA.bootstrapServers());
  }

  /** Of a test's own broker. */
  Groups(String bootstrapServers) {
    admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers));
  }

  /** Creates a topic that takes messages up to 4 MiB. */
  void createTopic(String name, int partitions) {
    NewTopic topic = new NewTopic(name, partitions, (short) 1);
    var _ =
        get(
            admin
                .createTopics(List.of(topic.configs(Map.of("max.message.bytes", MAX_MESSAGE))))
                .all());
  }

  /** Changes a setting of a topic. */
  void configureTopic(String name, String setting, String value) {
    var _ =
        get(
            admin
                .incrementalAlterConfigs(
                    Map.of(
                        new ConfigResource(ConfigResource.Type.TOPIC, name),
                        List.of(
                            new AlterConfigOp(
                                new ConfigEntry(setting, value), AlterConfigOp.OpType.SET))))
                .all());
  }

  /** What a group has committed of a topic, by partition. */
  Map<Integer, Long> committed(String group, String topic) {
    Map<TopicPartition, OffsetAndMetadata> offsets =
        get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
    return offsets.entrySet().stream()
        .filter(entry -> entry.getValue() != null && entry.getKey().topic().equals(topic))
        .collect(
            Collectors.toMap(
                entry -> entry.getKey().partition(), entry -> entry.getValue().offset()));
  }

  /** Where the partitions of a topic end; those that are empty are left out. */
  Map<Integer, Long> ends(String topic) {
    Map<TopicPartition, OffsetSpec> partitions =
        Objects.requireNonNull(get(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic))
            .partitions()
            .stream()
            .collect(
                Collectors.toMap(
                    info -> new TopicPartition(topic, info.partition()), _ -> OffsetSpec.latest()));
    return get(admin.listOffsets(partitions).all()).entrySet().stream()
        .filter(entry -> entry.getValue().offset() > 0)
        .collect(
            Collectors.toMap(
                entry -> entry.getKey().partition(), entry -> entry.getValue().offset()));
  }

  /** The members of a group, by their IDs, each with its partitions. */
  Map<String, Set<TopicPartition>> members(String group) {
    return describe(group).members().stream()
        .collect(
            Collectors.toMap(
                MemberDescription::consumerId, member -> member.assignment().topicPartitions()));
  }

  /** Fails unless the group has that many members which have all partitions, each some. */
  void requireBalanced(String group, int partitions, int members) {
    ConsumerGroupDescription described = describe(group);
    assertThat(described.groupState()).isEqualTo(GroupState.STABLE);
    assertThat(described.members()).hasSize(members);
    assertThat(described.members())
        .allSatisfy(member -> assertThat(member.assignment().topicPartitions()).isNotEmpty());
    assertThat(
            described.members().stream()
                .mapToInt(member -> member.assignment().topicPartitions().size())
                .sum())
        .isEqualTo(partitions);
  }

  private ConsumerGroupDescription describe(String group) {
    return Objects.requireNonNull(
        get(admin.describeConsumerGroups(List.of(group)).all()).get(group));
  }

  private static <T> T get(Future<T> future) {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while asking the broker", e);
    }
  }

  @Override
  public void close() {
    admin.close();
  }
}
