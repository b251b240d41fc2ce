package io.firstclaim.processor.engine.api;

import java.time.Instant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Where a record is in Kafka.
 *
 * @param timestamp the record's own
 */
public record RecordPosition(String topic, int partition, long offset, Instant timestamp) {
  private static final Pattern TEXT =
      Pattern.compile("([a-zA-Z0-9._-]{1,249})/(\\d{1,9})/(\\d{1,18})@(-?\\d{1,18})");

  /** Where this record is. */
  public static RecordPosition of(ConsumerRecord<?, ?> record) {
    return new RecordPosition(
        record.topic(),
        record.partition(),
        record.offset(),
        Instant.ofEpochMilli(record.timestamp()));
  }

  /** The position that {@link #text} was made of; empty if it is none's. */
  public static Optional<RecordPosition> parse(@Nullable String text) {
    Matcher parts = TEXT.matcher(text == null ? "" : text);
    return parts.matches()
        ? Optional.of(
            new RecordPosition(
                parts.group(1),
                Integer.parseInt(parts.group(2)),
                Long.parseLong(parts.group(3)),
                Instant.ofEpochMilli(Long.parseLong(parts.group(4)))))
        : Optional.empty();
  }

  /** The position as {@code topic/partition/offset@milliseconds}. */
  public String text() {
    return "%s/%d/%d@%d".formatted(topic, partition, offset, timestamp.toEpochMilli());
  }
}
