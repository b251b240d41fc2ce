package io.firstclaim.processor.engine.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** Records of one topic, with their ID as the key. */
public final class TestRecords {
  private TestRecords() {}

  /** A record. */
  public static ConsumerRecord<byte[], byte[]> record(@Nullable String id, String value) {
    return record(id, value, 0, 0);
  }

  /** A record at this place. */
  @SuppressWarnings("NullAway") // a Kafka record's key may be null
  public static ConsumerRecord<byte[], byte[]> record(
      @Nullable String id, String value, int partition, long offset) {
    return new ConsumerRecord<>(
        "in",
        partition,
        offset,
        ConsumerRecord.NO_TIMESTAMP,
        TimestampType.CREATE_TIME,
        0,
        0,
        id == null ? null : id.getBytes(UTF_8),
        value.getBytes(UTF_8),
        new RecordHeaders(),
        Optional.empty());
  }
}
