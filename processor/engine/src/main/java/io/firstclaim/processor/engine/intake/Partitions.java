package io.firstclaim.processor.engine.intake;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OneLine;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.admission.Shares;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.kafka.TopicIds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions that are assigned to this instance: which of them have room for more records, and
 * how far each is committed. Belongs to the polling thread.
 */
public final class Partitions implements ConsumerRebalanceListener {
  private static final Logger LOG = LoggerFactory.getLogger(Partitions.class);
  private static final Duration COMMIT_LIMIT = Duration.ofSeconds(5);

  /**
   * How many records may be settled ahead of an open one, over all partitions; bounds the
   * bookkeeping.
   */
  private static final int MAX_AHEAD = 200_000;

  private final InputConsumer input;
  private final Sequencer sequencer;
  private final Processing processing;
  private final InFlightLimit limit;
  private final TopicIds topicIds;
  private final EngineListener listener;
  private final Map<TopicPartition, AssignedPartition> assigned = new HashMap<>();
  private final Set<TopicPartition> unchecked = new HashSet<>();

  /** Partitions of topics that were made anew, of which the consumer is yet to be told. */
  private final Set<TopicPartition> begunAnew = new HashSet<>();

  /** Partitions of topics that are deleted, as long as records of theirs are on their way. */
  private final Set<AssignedPartition> ofDeletedTopics = new HashSet<>();

  private boolean commitsFail;
  private boolean hasFinished;

  /**
   * No partitions are assigned yet.
   *
   * @param input in whose group they are assigned
   * @param processing is told of partitions that are lost
   */
  public Partitions(
      InputConsumer input,
      Sequencer sequencer,
      Processing processing,
      InFlightLimit limit,
      TopicIds topicIds,
      EngineListener listener) {
    this.input = input;
    this.sequencer = sequencer;
    this.processing = processing;
    this.limit = limit;
    this.topicIds = topicIds;
    this.listener = listener;
  }

  /** Those that are assigned. */
  Set<TopicPartition> ids() {
    return assigned.keySet();
  }

  /** Offsets between the watermarks and what has been polled, over all partitions. */
  long lag() {
    return assigned.values().stream().mapToLong(AssignedPartition::lag).sum();
  }

  /** The partitions of which more records may come; waits a moment for one. */
  Set<TopicPartition> room(Duration atMost) {
    Shares ahead = new Shares(MAX_AHEAD, assigned.size());
    long common =
        assigned.values().stream()
            .mapToLong(partition -> Math.max(0, partition.tracked() - ahead.setAside()))
            .sum();
    Set<InFlightLimit.Usage> room = new HashSet<>(limit.awaitRoom(atMost));
    return assigned.values().stream()
        .filter(partition -> room.contains(partition.usage()))
        .filter(partition -> !unchecked.contains(partition.id()))
        .filter(partition -> ahead.allow(partition.tracked(), common))
        .map(AssignedPartition::id)
        .collect(Collectors.toSet());
  }

  /**
   * Takes in what a poll has brought, and notes how far it has read in each partition, whether that
   * brought records or not.
   *
   * @param arrival of its records
   * @param read what is taken in place of a record
   * @return without those of partitions that are to be read from their beginning
   */
  List<Delivery> take(
      ConsumerRecords<byte[], byte[]> polled,
      Moment arrival,
      UnaryOperator<ConsumerRecord<byte[], byte[]>> read) {
    List<Delivery> deliveries = new ArrayList<>(polled.count());
    for (ConsumerRecord<byte[], byte[]> record : polled) {
      TopicPartition id = new TopicPartition(record.topic(), record.partition());
      AssignedPartition partition = begunAnew.contains(id) ? null : following(id, record.offset());
      if (partition != null) {
        deliveries.add(deliver(read.apply(record), partition, arrival));
      }
    }
    polled
        .nextOffsets()
        .forEach(
            (id, next) -> {
              AssignedPartition partition = assigned.get(id);
              if (partition != null && !begunAnew.contains(id)) {
                partition.reached(next.offset());
              }
            });
    return deliveries;
  }

  private Delivery deliver(
      ConsumerRecord<byte[], byte[]> record, AssignedPartition partition, Moment arrival) {
    Delivery delivery = sequencer.deliver(record, partition, arrival);
    limit.arrive(partition.usage(), delivery.bytes());
    return delivery;
  }

  /** Asks for the topics' IDs, without waiting for the answer. */
  void watchTopics() {
    topicIds.askSoon();
  }

  /**
   * Reads from its beginning what belongs to a topic that was deleted and made anew: neither the
   * position of the old one nor what was committed for it says anything of the new one. Nothing is
   * to be polled before this has succeeded.
   */
  void followTopics() {
    for (AssignedPartition partition : List.copyOf(assigned.values())) {
      String topicId = topicIds.of(partition.id().topic());
      if (!partition.topicId().equals(topicId)) {
        beginAnew(partition, topicId);
      }
    }
    checkCommitted();
    readFromTheBeginning();
  }

  private void readFromTheBeginning() {
    for (TopicPartition id : List.copyOf(begunAnew)) {
      input.it().seekToBeginning(List.of(id));
      begunAnew.remove(id);
      LOG.warn("Topic {} was deleted and made anew: {} is read from its beginning", id.topic(), id);
    }
  }

  /** No record of a partition is taken before it is known for which topic it was committed. */
  private void checkCommitted() {
    if (unchecked.isEmpty()) {
      return;
    }
    try {
      topicIds
          .committed(input.it().groupMetadata().groupId(), Set.copyOf(unchecked))
          .ifPresent(
              committed -> {
                unchecked.clear();
                committed.forEach(this::check);
              });
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void check(TopicPartition id, OffsetAndMetadata committed) {
    AssignedPartition partition = assigned.get(id);
    if (partition != null && partition.isOfAnotherTopic(committed)) {
      beginAnew(partition, partition.topicId());
    }
  }

  /**
   * Begins with the new topic in place of the old one: what was taken from that goes on to its end,
   * and commits nothing. The consumer is told before the next poll, and not here: that may fail,
   * and the records of other partitions would be lost that came in the same poll.
   *
   * @param topicId of the new one
   */
  private void beginAnew(AssignedPartition before, String topicId) {
    TopicPartition id = before.id();
    begunAnew.add(id);
    unchecked.remove(id);
    ofDeletedTopics.removeIf(partition -> partition.lag() == 0);
    ofDeletedTopics.add(before);
    AssignedPartition _ = start(id, topicId);
  }

  private AssignedPartition start(TopicPartition id, String topicId) {
    AssignedPartition partition = new AssignedPartition(id, topicId);
    assigned.put(id, partition);
    share();
    return partition;
  }

  /** Has the consumer fetch of these alone. */
  void pauseAllBut(Set<TopicPartition> room) {
    Set<TopicPartition> resume = new HashSet<>(input.it().paused());
    Set<TopicPartition> pause = new HashSet<>(assigned.keySet());
    pause.removeAll(room);
    pause.removeAll(resume);
    resume.retainAll(room);
    if (!pause.isEmpty()) {
      input.it().pause(pause);
    }
    if (!resume.isEmpty()) {
      input.it().resume(resume);
    }
  }

  /** The partition that goes on with this offset; null if it is read from its beginning instead. */
  private @Nullable AssignedPartition following(TopicPartition id, long offset) {
    AssignedPartition before = assigned.get(id);
    if (before == null) {
      return start(id, topicIds.of(id.topic()));
    }
    if (before.isNext(offset)) {
      return before;
    }
    askTopicIds(); // it may be a topic made anew, which ends before the position in the old one
    String topicId = topicIds.of(id.topic());
    if (!before.topicId().equals(topicId)) {
      beginAnew(before, topicId);
      return null; // Kafka may have gone to where the new one ended, and on from there
    }
    LOG.warn("{} was rewound to offset {}", id, offset);
    leave(before);
    return start(id, topicId); // and not by what is heard meanwhile: that calls for a seek
  }

  private void share() {
    limit.share(assigned.values().stream().map(AssignedPartition::usage).toList());
  }

  private Map<AssignedPartition, OffsetAndMetadata> toCommit(Collection<TopicPartition> of) {
    Map<AssignedPartition, OffsetAndMetadata> offsets = new HashMap<>();
    for (TopicPartition id : of) {
      AssignedPartition partition = assigned.get(id);
      if (partition != null) {
        partition.toCommit().ifPresent(offset -> offsets.put(partition, offset));
      }
    }
    return offsets;
  }

  private static Map<TopicPartition, OffsetAndMetadata> byId(
      Map<AssignedPartition, OffsetAndMetadata> offsets) {
    return offsets.entrySet().stream()
        .collect(Collectors.toMap(each -> each.getKey().id(), Map.Entry::getValue));
  }

  /** Commits what is settled; the next poll hears how that went. */
  void commit() {
    Map<AssignedPartition, OffsetAndMetadata> offsets = toCommit(assigned.keySet());
    if (offsets.isEmpty()) {
      return;
    }
    input
        .it()
        .commitAsync(
            byId(offsets),
            (_, fault) -> { // under the new group protocol, a failure comes without its offsets
              try {
                if (fault == null) {
                  committed(offsets);
                } else {
                  commitFailed(offsets, fault);
                }
              } catch (RuntimeException e) { // a throw would end the poll that calls this
                LOG.error("What came of a commit could not be told", e);
              }
            });
  }

  /**
   * Commits what is settled of these, at once.
   *
   * @return whether the consumer was woken meanwhile, as the loop is to stop
   */
  boolean commitNow(Collection<TopicPartition> of, Duration atMost) {
    Map<AssignedPartition, OffsetAndMetadata> offsets = toCommit(of);
    if (offsets.isEmpty()) {
      return false;
    }
    try {
      input.it().commitSync(byId(offsets), atMost);
      committed(offsets);
    } catch (WakeupException e) {
      commitNow(of, atMost);
      return true;
    } catch (KafkaException e) {
      commitFailed(offsets, e);
    }
    return false;
  }

  /** Commits what is settled for the last time. */
  void finish(Duration atMost) {
    boolean _ = commitNow(ids(), atMost);
    hasFinished = true;
  }

  /** A commit failed. That is said once, until one succeeds. */
  private void commitFailed(Map<AssignedPartition, OffsetAndMetadata> offsets, Exception fault) {
    listener.commitFailed();
    if (!commitsFail) {
      LOG.warn(
          "Could not commit {}: {}; tried again, and what is delivered again is skipped",
          byId(offsets).keySet(),
          OneLine.of(fault));
    }
    commitsFail = true;
  }

  /** These offsets are committed; of a topic that was made anew meanwhile, nothing is by that. */
  private void committed(Map<AssignedPartition, OffsetAndMetadata> offsets) {
    commitsFail = false;
    offsets.forEach((partition, offset) -> partition.committed(offset.offset()));
  }

  @Override
  public void onPartitionsAssigned(Collection<TopicPartition> added) {
    askTopicIds();
    for (TopicPartition id : added) {
      assigned.put(id, new AssignedPartition(id, topicIds.of(id.topic())));
    }
    unchecked.addAll(added);
    input.it().pause(added); // else this very poll might bring their records
    share();
    LOG.info("Assigned {}", added);
  }

  private void askTopicIds() {
    try {
      boolean _ = topicIds.ask();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
    if (!hasFinished) { // else the group is being left, and without a broker the stop would wait
      commitNow(revoked, COMMIT_LIMIT);
    }
    revoked.forEach(this::leave);
    LOG.info("Revoked {}", revoked);
  }

  @Override
  public void onPartitionsLost(Collection<TopicPartition> lost) {
    lost.forEach(this::leave);
    LOG.warn("Lost {}; nothing is committed for it", lost);
  }

  private void leave(TopicPartition id) {
    unchecked.remove(id);
    begunAnew.remove(id);
    ofDeletedTopics.stream().filter(old -> old.id().equals(id)).forEach(this::leave);
    ofDeletedTopics.removeIf(old -> !old.isAssigned());
    AssignedPartition partition = assigned.remove(id);
    if (partition != null) {
      leave(partition);
      share();
    }
  }

  /** The partitions are another's: what is in flight goes on under its lease; what waits ends. */
  private void leave(AssignedPartition partition) {
    partition.unassign();
    processing.leave(partition);
  }

  /** Watches no topic any more. */
  void close() {
    topicIds.close();
  }

  /** No partition is this instance's any more; their offsets may still be committed. */
  void unassignAll() {
    assigned.values().forEach(AssignedPartition::unassign);
    ofDeletedTopics.forEach(AssignedPartition::unassign);
  }
}
