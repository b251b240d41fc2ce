package io.firstclaim.processor.handler;

import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.RecordId;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** A record in its handler's hands. For use by the handler's thread, while it runs. */
public interface RecordContext {
  /** The record's ID: the same in every zone and on every delivery. */
  RecordId id();

  /**
   * The record as it came; a redriven one with the time that it had when it came first, not that at
   * which it was published again. Key and value may be null; headers may hold anything. Not to be
   * changed.
   */
  ConsumerRecord<byte[], byte[]> record();

  /** Rises with every attempt on this ID in any zone: the fencing token. */
  long token();

  /**
   * The fencing tokens of what was claimed with the record, by the resources' IDs in their order:
   * each rises with every record that touches the resource. Empty if the record touches nothing. A
   * sink that remembers the highest token of a resource can refuse a stale one.
   */
  default Map<RecordId, Long> resourceTokens() {
    return Map.of();
  }

  /** Which attempt this is, from 1, counted in the lock store across all zones and restarts. */
  int attempt();

  /** The zone that this instance runs in. */
  String zone();

  /** When the handler's time is up and its thread is interrupted. */
  Instant deadline();

  /**
   * Makes sure that the lease is still held, by this machine's monotonic clock; asks no store.
   *
   * @throws LeaseLostException if it is not: stop, without effect
   */
  void ensureHeld();
}
