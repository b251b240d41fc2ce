package io.firstclaim.processor.engine.consumer;

import io.firstclaim.processor.engine.offset.Watermark;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * A partition from its assignment to its revocation. Belongs to the polling thread, except for
 * {@link #isAssigned()} and {@link #usage()}.
 */
final class AssignedPartition {
  private final TopicPartition id;
  private final Watermark watermark;
  private final Places.Usage usage = new Places.Usage();
  private long committed;
  private int epoch = -1;
  private volatile boolean assigned = true;

  AssignedPartition(TopicPartition id) {
    this.id = id;
    this.watermark = new Watermark(0);
  }

  TopicPartition id() {
    return id;
  }

  /** What it has of the {@link Places}. */
  Places.Usage usage() {
    return usage;
  }

  /** Whether a record of this offset follows those delivered so far. */
  boolean isNext(long offset) {
    return watermark.mayDeliver(offset);
  }

  Watermark.Mark delivered(ConsumerRecord<?, ?> record) {
    epoch = record.leaderEpoch().orElse(-1);
    return watermark.delivered(record.offset());
  }

  void reached(long position) {
    watermark.reached(position);
  }

  /** What to commit, if it is more than what was committed before. */
  Optional<OffsetAndMetadata> toCommit() {
    long value = watermark.value();
    return value > committed
        ? Optional.of(
            new OffsetAndMetadata(value, epoch < 0 ? Optional.empty() : Optional.of(epoch), ""))
        : Optional.empty();
  }

  void committed(long offset) {
    committed = Math.max(committed, offset);
  }

  long lag() {
    return watermark.lag();
  }

  int tracked() {
    return watermark.tracked();
  }

  /** From now on nothing is committed for it, and no record of it is started. */
  void unassign() {
    assigned = false;
  }

  boolean isAssigned() {
    return assigned;
  }
}
