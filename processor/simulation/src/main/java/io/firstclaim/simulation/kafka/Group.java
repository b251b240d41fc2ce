package io.firstclaim.simulation.kafka;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** A consumer group: who is in it, who has which partition, and what is committed. */
final class Group {
  private final String name;
  private final List<TopicPartition> partitions;
  private final Map<TopicPartition, Long> committed = new LinkedHashMap<>();
  private final Map<TopicPartition, SimulatedConsumer> owners = new LinkedHashMap<>();
  private final List<SimulatedConsumer> members = new ArrayList<>();

  Group(String name, List<TopicPartition> partitions) {
    this.name = name;
    this.partitions = partitions;
  }

  String name() {
    return name;
  }

  List<SimulatedConsumer> members() {
    return List.copyOf(members);
  }

  boolean has(SimulatedConsumer member) {
    return members.contains(member);
  }

  void join(SimulatedConsumer member) {
    members.add(member);
  }

  /** It is a member no more, and its partitions are free. */
  void remove(SimulatedConsumer member) {
    members.remove(member);
    owners.values().removeIf(owner -> owner == member);
  }

  boolean owns(SimulatedConsumer member, TopicPartition partition) {
    return owners.get(partition) == member;
  }

  /** What a member shall have, of what it has and what is free: partitions move in two steps. */
  List<TopicPartition> targetOf(SimulatedConsumer member) {
    int place = members.indexOf(member);
    List<TopicPartition> target = new ArrayList<>();
    for (int i = 0; i < partitions.size(); i++) {
      if (i % members.size() == place) {
        target.add(partitions.get(i));
      }
    }
    return target;
  }

  boolean isFree(TopicPartition partition) {
    return !owners.containsKey(partition);
  }

  void give(TopicPartition partition, SimulatedConsumer member) {
    owners.put(partition, member);
  }

  void takeBack(TopicPartition partition, SimulatedConsumer member) {
    owners.remove(partition, member);
  }

  /** Where a member that is given the partition begins. */
  long begin(TopicPartition partition) {
    return committed.getOrDefault(partition, 0L);
  }

  @Nullable Long committed(TopicPartition partition) {
    return committed.get(partition);
  }

  void commit(TopicPartition partition, long offset) {
    committed.put(partition, offset);
  }
}
