package io.firstclaim.processor.audit.topology;

import io.firstclaim.lock.TimeSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.streams.processor.TimestampExtractor;

/**
 * When an outcome was published; never in the future: one message with the date of next year would
 * make everything that is kept older than its retention.
 */
final class StreamTime implements TimestampExtractor {
  private final TimeSource time;

  StreamTime(TimeSource time) {
    this.time = time;
  }

  @Override
  public long extract(ConsumerRecord<Object, Object> message, long partitionTime) {
    return Math.clamp(message.timestamp(), 0, time.now().wall().toEpochMilli());
  }
}
