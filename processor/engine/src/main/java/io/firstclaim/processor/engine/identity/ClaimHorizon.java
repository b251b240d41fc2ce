package io.firstclaim.processor.engine.identity;

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
 */
public record ClaimHorizon(Duration retention) {
  /**
   * Why nobody can know whether a record was handled before; empty if claims go back to its own
   * time, or it has none.
   *
   * @param now the time, by which the record's age is told
   */
  public Optional<String> faultOf(ConsumerRecord<?, ?> record, Instant now) {
    long at = record.timestamp();
    return at < 0 || now.minus(retention).toEpochMilli() <= at
        ? Optional.empty()
        : Optional.of(
            "its time, %s, is longer ago than claims are kept (%s), so whether it was handled before is not known"
                .formatted(Instant.ofEpochMilli(at), retention));
  }
}
