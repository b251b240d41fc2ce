package io.firstclaim.simulation.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** The records of one partition. */
final class Log {
  private final TopicPartition id;
  private final List<@Nullable ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();

  private long begin;

  Log(TopicPartition id) {
    this.id = id;
  }

  TopicPartition id() {
    return id;
  }

  /** The first offset that readers can still read from. */
  long begin() {
    return begin;
  }

  /** Retention takes what is before an offset away from all readers. */
  void deleteBefore(long offset) {
    begin = Math.max(begin, Math.min(offset, end()));
  }

  /** The offset of the next record. */
  long end() {
    return records.size();
  }

  /** Appends a record. */
  ConsumerRecord<byte[], byte[]> append(
      byte @Nullable [] key, byte @Nullable [] value, Iterable<Header> headers, long timestamp) {
    ConsumerRecord<byte[], byte[]> record =
        new ConsumerRecord<>(
            id.topic(),
            id.partition(),
            end(),
            timestamp,
            TimestampType.CREATE_TIME,
            key == null ? ConsumerRecord.NULL_SIZE : key.length,
            value == null ? ConsumerRecord.NULL_SIZE : value.length,
            key,
            value,
            new RecordHeaders(headers),
            Optional.empty());
    records.add(record);
    return record;
  }

  /** Uses up an offset that no reader sees: a record of a transaction that was aborted. */
  void appendAborted() {
    records.add(null);
  }

  /** At most so many records from an offset on, deleted ones too. */
  List<ConsumerRecord<byte[], byte[]>> read(long from, int most) {
    List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
    for (long offset = from; offset < end() && found.size() < most; offset++) {
      ConsumerRecord<byte[], byte[]> record = records.get((int) offset);
      if (record != null) {
        found.add(record);
      }
    }
    return found;
  }

  /** The first record of this time or later. */
  Optional<ConsumerRecord<byte[], byte[]>> firstSince(long timestamp) {
    return read(begin, Integer.MAX_VALUE).stream()
        .filter(record -> record.timestamp() >= timestamp)
        .findFirst();
  }
}
