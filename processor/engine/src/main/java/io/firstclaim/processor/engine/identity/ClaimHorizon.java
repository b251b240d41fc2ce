package io.firstclaim.processor.engine.identity;

import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * How far back claims remember. That a record was handled is forgotten after the retention, and
 * Kafka may still have the record: one whose timestamps were ahead keeps a whole segment.
 * Immutable.
 *
 * @param retention how long finished claims are kept
 * @param time whose wall clock tells a record's age
 */
public record ClaimHorizon(Duration retention, TimeSource time) {
  /**
   * Why nobody can know whether a record was handled before; empty if claims go back to its own
   * time, or it has none.
   */
  public Optional<String> faultOf(ConsumerRecord<?, ?> record) {
    long at = record.timestamp();
    return at < 0 || time.now().wall().minus(retention).toEpochMilli() <= at
        ? Optional.empty()
        : Optional.of(
            "its time, %s, is longer ago than claims are kept (%s), so whether it was handled before is not known"
                .formatted(Instant.ofEpochMilli(at), retention));
  }
}
