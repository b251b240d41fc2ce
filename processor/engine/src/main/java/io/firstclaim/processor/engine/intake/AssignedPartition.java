package io.firstclaim.processor.engine.intake;

import io.firstclaim.processor.engine.admission.InFlightLimit;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * A partition from its assignment to its revocation. Belongs to the polling thread, except for
 * {@link #isAssigned()} and {@link #usage()}.
 */
public final class AssignedPartition {
  /** What stands before a topic's ID in what is committed beside an offset. */
  private static final String TOPIC_ID = "topic-id=";

  private final TopicPartition id;
  private final String topicId;
  private final Watermark watermark;
  private final InFlightLimit.Usage usage = new InFlightLimit.Usage();
  private long committed;
  private int epoch = -1;
  private volatile boolean assigned = true;

  /**
   * A partition that was assigned just now.
   *
   * @param topicId its topic's, by which that is told from another of its name; empty if that is
   *     not known
   */
  public AssignedPartition(TopicPartition id, String topicId) {
    this.id = id;
    this.topicId = topicId;
    this.watermark = new Watermark(0);
  }

  /** Its topic and number. */
  public TopicPartition id() {
    return id;
  }

  /** The ID of the topic that its records come from; empty if that is not known. */
  public String topicId() {
    return topicId;
  }

  /** Whether this offset was committed for another topic of its name. */
  boolean isOfAnotherTopic(OffsetAndMetadata committed) {
    String of = committed.metadata();
    return !topicId.isEmpty() && of.startsWith(TOPIC_ID) && !of.equals(metadata());
  }

  private String metadata() {
    return topicId.isEmpty() ? "" : TOPIC_ID + topicId;
  }

  /** What it has of the {@link InFlightLimit}. */
  public InFlightLimit.Usage usage() {
    return usage;
  }

  /** Whether a record of this offset follows those delivered so far. */
  boolean isNext(long offset) {
    return watermark.mayDeliver(offset);
  }

  /** A record of it was delivered. */
  public Watermark.Mark delivered(ConsumerRecord<?, ?> record) {
    epoch = record.leaderEpoch().orElse(-1);
    return watermark.delivered(record.offset());
  }

  void reached(long position) {
    watermark.reached(position);
  }

  /**
   * What to commit, if it is more than what was committed before. It says for which topic: Kafka
   * knows offsets by the topic's name, and may keep them when it is made anew.
   */
  Optional<OffsetAndMetadata> toCommit() {
    long value = watermark.value();
    return value > committed
        ? Optional.of(
            new OffsetAndMetadata(
                value, epoch < 0 ? Optional.empty() : Optional.of(epoch), metadata()))
        : Optional.empty();
  }

  void committed(long offset) {
    committed = Math.max(committed, offset);
  }

  /** Offsets between the watermark and what was polled. */
  public long lag() {
    return watermark.lag();
  }

  int tracked() {
    return watermark.tracked();
  }

  /** From now on nothing is committed for it, and no record of it is started. */
  public void unassign() {
    assigned = false;
  }

  /** Whether it still is this instance's. */
  public boolean isAssigned() {
    return assigned;
  }
}
