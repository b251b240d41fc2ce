package io.firstclaim.simulation.kafka;

import io.firstclaim.simulation.world.Machine;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * What the product calls of Kafka's consumer: used by one thread, but for {@link #wakeup}. It waits
 * in {@link #poll} as the real one does, and rebalances, step by step, nowhere else.
 */
final class SimulatedConsumer {
  private static final Duration ANSWERED_WITHIN = Duration.ofSeconds(2);

  /** How many of those whose sessions are over give themselves up, under the new protocol. */
  private static final double GIVES_UP = 0.3;

  private static final Duration A_TRIP = Duration.ofMillis(8);
  private static final Duration A_COMMIT = Duration.ofMillis(20);
  private static final int MOST_OF_A_PARTITION = 50;
  private static final Comparator<TopicPartition> BY_NAME =
      Comparator.comparing(TopicPartition::toString);

  private final Broker broker;
  private final Machine machine;
  private final Optional<String> groupName;
  private final Set<TopicPartition> assigned = new TreeSet<>(BY_NAME);
  private final Set<TopicPartition> paused = new TreeSet<>(BY_NAME);
  private final Map<TopicPartition, Long> positions = new TreeMap<>(BY_NAME);
  private final Deque<Runnable> callbacks = new ArrayDeque<>();
  private @Nullable Group group;
  private @Nullable ConsumerRebalanceListener listener;
  private @Nullable Thread poller;
  private int epoch;
  private boolean fenced;
  private boolean givenUp;
  private boolean woken;
  private Duration lastBeat;
  private Duration lastPoll;

  SimulatedConsumer(Broker broker, Machine machine, Optional<String> groupName) {
    this.broker = broker;
    this.machine = machine;
    this.groupName = groupName;
    this.lastBeat = broker.world().elapsed();
    this.lastPoll = broker.world().elapsed();
  }

  Machine machine() {
    return machine;
  }

  void beat() {
    lastBeat = broker.world().elapsed();
  }

  Duration sinceBeat() {
    return broker.world().elapsed().minus(lastBeat);
  }

  Duration sincePoll() {
    return broker.world().elapsed().minus(lastPoll);
  }

  /** It was put out of its group, of which it learns when it hears of the group again. */
  void fence() {
    fenced = true;
  }

  boolean reads(TopicPartition partition) {
    return assigned.contains(partition);
  }

  void wake() {
    if (poller != null) {
      LockSupport.unpark(poller);
    }
  }

  private boolean isConnected() {
    return broker.hears(machine) && broker.isHeardBy(machine);
  }

  /** A question to the cluster. */
  private <T> T asked(Supplier<T> answer) {
    park(broker.world().upTo(A_TRIP));
    if (!isConnected()) {
      park(ANSWERED_WITHIN);
      throw new TimeoutException("no answer");
    }
    return answer.get();
  }

  private static void park(Duration length) {
    LockSupport.parkNanos(length.toNanos());
    if (Thread.interrupted()) {
      throw new InterruptException("interrupted");
    }
  }

  // What Kafka's consumer has

  void subscribe(Collection<String> topics, ConsumerRebalanceListener given) {
    group = broker.group(groupName.orElseThrow(), List.copyOf(topics));
    listener = given;
  }

  void unsubscribe() {
    leave();
  }

  void close() {
    leave();
  }

  void close(CloseOptions options) {
    leave();
  }

  private void leave() {
    if (group == null) {
      return;
    }
    if (listener != null && !assigned.isEmpty()) {
      listener.onPartitionsRevoked(List.copyOf(assigned));
    }
    forgetAssignment();
    if (isConnected()) {
      group.remove(this);
    } else {
      fenced = true; // the group cannot be told: the session ends by itself
    }
    listener = null;
    group = null;
  }

  private void forgetAssignment() {
    assigned.clear();
    paused.clear();
  }

  @SuppressWarnings("removal") // what replaces it does not come with these clients
  ConsumerGroupMetadata groupMetadata() {
    return new ConsumerGroupMetadata(groupName.orElseThrow());
  }

  void wakeup() {
    woken = true;
    wake();
  }

  void pause(Collection<TopicPartition> partitions) {
    paused.addAll(partitions);
  }

  void resume(Collection<TopicPartition> partitions) {
    paused.removeAll(partitions);
  }

  Set<TopicPartition> paused() {
    return new LinkedHashSet<>(paused);
  }

  Set<TopicPartition> assignment() {
    return new LinkedHashSet<>(assigned);
  }

  void assign(Collection<TopicPartition> partitions) {
    assigned.clear();
    assigned.addAll(partitions);
  }

  void seek(TopicPartition partition, long offset) {
    positions.put(partition, offset);
  }

  void seekToBeginning(Collection<TopicPartition> partitions) {
    partitions.forEach(each -> positions.put(each, broker.log(each).begin()));
  }

  long position(TopicPartition partition) {
    return positions.getOrDefault(partition, 0L);
  }

  List<PartitionInfo> partitionsFor(String topic) {
    return asked(
        () ->
            broker.partitions(topic).stream()
                .map(
                    each ->
                        new PartitionInfo(
                            topic, each.partition(), Node.noNode(), new Node[0], new Node[0]))
                .toList());
  }

  Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> of) {
    return asked(() -> each(of, partition -> broker.log(partition).end()));
  }

  Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> of, Duration within) {
    return endOffsets(of);
  }

  Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> of) {
    return asked(() -> each(of, partition -> broker.log(partition).begin()));
  }

  Map<TopicPartition, @Nullable OffsetAndTimestamp> offsetsForTimes(
      Map<TopicPartition, Long> times) {
    return asked(
        () -> {
          Map<TopicPartition, @Nullable OffsetAndTimestamp> found = new LinkedHashMap<>();
          times.forEach(
              (partition, time) ->
                  found.put(
                      partition,
                      broker
                          .log(partition)
                          .firstSince(time)
                          .map(each -> new OffsetAndTimestamp(each.offset(), each.timestamp()))
                          .orElse(null)));
          return found;
        });
  }

  private static <T> Map<TopicPartition, T> each(
      Collection<TopicPartition> all, Function<TopicPartition, T> what) {
    Map<TopicPartition, T> found = new LinkedHashMap<>();
    all.forEach(partition -> found.put(partition, what.apply(partition)));
    return found;
  }

  void commitAsync(Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
    Map<TopicPartition, OffsetAndMetadata> sent = Map.copyOf(offsets);
    Group to = group;
    int sentIn = epoch;
    broker
        .world()
        .after(
            broker.world().upTo(A_COMMIT),
            () -> {
              Exception fault = commit(to, sentIn, sent);
              callbacks.add(
                  () ->
                      callback.onComplete(
                          fault != null && broker.isNewProtocol() ? null : sent, fault));
              wake();
            });
  }

  void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets, Duration within) {
    park(broker.world().upTo(A_TRIP));
    RuntimeException fault = commit(group, epoch, offsets);
    if (fault instanceof TimeoutException) {
      park(within);
    }
    if (fault != null) {
      throw fault;
    }
  }

  private @Nullable RuntimeException commit(
      @Nullable Group to, int sentIn, Map<TopicPartition, OffsetAndMetadata> offsets) {
    if (machine.isDead()) {
      return null;
    }
    if (!broker.hears(machine)) {
      return new TimeoutException("the commit did not arrive");
    }
    if (fenced || to == null || !to.has(this) || sentIn != epoch) {
      return new CommitFailedException("not a member, or not any more what it was");
    }
    offsets.forEach(
        (partition, offset) -> {
          if (to.owns(this, partition)) {
            to.commit(partition, offset.offset());
            broker.listener().committed(to.name(), partition, offset.offset());
          } else {
            broker.listener().committedByStranger(machine, partition);
          }
        });
    return broker.isHeardBy(machine) ? null : new TimeoutException("its answer did not arrive");
  }

  ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
    poller = Thread.currentThread();
    Duration deadline = broker.world().elapsed().plus(timeout);
    while (true) {
      lastPoll = broker.world().elapsed();
      if (woken) {
        woken = false;
        throw new WakeupException();
      }
      runCallbacks();
      rebalance();
      ConsumerRecords<byte[], byte[]> fetched = fetch();
      Duration left = deadline.minus(broker.world().elapsed());
      if (!fetched.isEmpty() || !left.isPositive()) {
        return fetched;
      }
      park(left);
    }
  }

  private void runCallbacks() {
    for (Runnable next = callbacks.poll(); next != null; next = callbacks.poll()) {
      next.run();
    }
  }

  private ConsumerRecords<byte[], byte[]> fetch() {
    Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> records = new LinkedHashMap<>();
    Map<TopicPartition, OffsetAndMetadata> next = new LinkedHashMap<>();
    if (isConnected()) {
      for (TopicPartition each : assigned) {
        if (!paused.contains(each)) {
          long from = whereItIs(each);
          List<ConsumerRecord<byte[], byte[]>> some =
              broker.log(each).read(from, MOST_OF_A_PARTITION);
          long reached =
              some.size() < MOST_OF_A_PARTITION
                  ? broker.log(each).end()
                  : some.getLast().offset() + 1;
          positions.put(each, reached);
          if (!some.isEmpty()) {
            records.put(each, some);
            next.put(each, new OffsetAndMetadata(reached));
          }
        }
      }
    }
    return new ConsumerRecords<>(records, next);
  }

  /**
   * Where to read on: if that was deleted, a group does at the earliest, a reader of outcomes at
   * the latest, as the product has its clients do.
   */
  private long whereItIs(TopicPartition partition) {
    long position = position(partition);
    if (position >= broker.log(partition).begin()) {
      return position;
    }
    return groupName.isPresent() ? broker.log(partition).begin() : broker.log(partition).end();
  }

  /** One step towards what the group wants this member to have. */
  private void rebalance() {
    if (group == null || listener == null || !isConnected()) {
      return;
    }
    if (givenUp) {
      throw new GroupIdNotFoundException("it has given itself up");
    }
    if (fenced) {
      fenced = false;
      List<TopicPartition> lost = List.copyOf(assigned);
      forgetAssignment();
      if (!lost.isEmpty()) {
        broker.listener().revoked(machine);
        listener.onPartitionsLost(lost);
      }
      if (broker.isNewProtocol()) {
        givenUp = broker.world().chance(GIVES_UP);
        if (givenUp) {
          throw new GroupIdNotFoundException("a broker that has just begun does not know it");
        }
        // As one that asked for its offsets meanwhile; by the next poll it joins anew.
        throw new UnknownMemberIdException("its session was over");
      }
    }
    if (!group.has(this)) {
      beat();
      epoch++;
      group.join(this);
      broker.world().note(machine + " joins " + group.name());
    }
    List<TopicPartition> target = group.targetOf(this);
    List<TopicPartition> revoked = new ArrayList<>(assigned);
    revoked.removeAll(target);
    if (!revoked.isEmpty()) {
      broker.listener().revoked(machine);
      listener.onPartitionsRevoked(revoked);
      epoch++;
      for (TopicPartition each : revoked) {
        assigned.remove(each);
        paused.remove(each);
        group.takeBack(each, this);
      }
    }
    List<TopicPartition> added =
        target.stream().filter(each -> !assigned.contains(each) && group.isFree(each)).toList();
    if (!added.isEmpty() && group.has(this)) {
      for (TopicPartition each : added) {
        group.give(each, this);
        assigned.add(each);
        positions.put(each, group.begin(each));
      }
      broker.world().note(machine + " is given " + added);
      listener.onPartitionsAssigned(added);
    }
  }

  @Override
  public String toString() {
    return "consumer of " + machine;
  }
}
