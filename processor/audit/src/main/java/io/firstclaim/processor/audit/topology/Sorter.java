package io.firstclaim.processor.audit.topology;

import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/**
 * Passes on either the outcomes that are in the partition to which their ID belongs, or those that
 * are not. Used by one thread.
 */
final class Sorter extends ContextualProcessor<byte[], byte[], byte[], byte[]> {
  /** What is passed on. */
  enum Takes {
    /** Outcomes in a partition to which their ID does not belong. */
    STRAYS,
    /** All others. */
    THE_REST
  }

  private final Takes takes;
  private final int partitions;

  /**
   * Sorts.
   *
   * @param partitions of the outcomes topic
   */
  Sorter(Takes takes, int partitions) {
    this.takes = takes;
    this.partitions = partitions;
  }

  /** Where an ID belongs, as Kafka's own producers and Kafka Streams' questions have it. */
  static int partitionOf(byte[] id, int partitions) {
    return Utils.toPositive(Utils.murmur2(id)) % partitions;
  }

  @Override
  public void process(Record<byte[], byte[]> message) {
    if (message.key() == null) {
      return; // without a key, a message is about no record
    }
    int here = context().recordMetadata().map(RecordMetadata::partition).orElse(0);
    boolean isStray = partitionOf(message.key(), partitions) != here;
    if (isStray == (takes == Takes.STRAYS)) {
      context().forward(message);
    }
  }
}
