package io.firstclaim.processor.engine.intake;

import io.firstclaim.lock.Moment;
import io.firstclaim.processor.engine.trace.Trace;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * One delivery of a record.
 *
 * @param record the record
 * @param bytes of its key, value and headers
 * @param partition where it came from
 * @param mark to settle once the record needs nothing more
 * @param arrival when it was polled
 * @param before the delivery that must end first, if records are ordered
 * @param end to run once this one has ended
 * @param trace of what happens to it
 */
public record Delivery(
    ConsumerRecord<byte[], byte[]> record,
    long bytes,
    AssignedPartition partition,
    Watermark.Mark mark,
    Moment arrival,
    @Nullable CompletableFuture<Void> before,
    Runnable end,
    Trace trace) {

  /** A delivery whose bytes are counted. */
  public Delivery(
      ConsumerRecord<byte[], byte[]> record,
      AssignedPartition partition,
      Watermark.Mark mark,
      Moment arrival,
      @Nullable CompletableFuture<Void> before,
      Runnable end,
      Trace trace) {
    this(record, bytesOf(record), partition, mark, arrival, before, end, trace);
  }

  /** This delivery with another one's record, which says the same; its own is forgotten. */
  public Delivery withRecordOf(Delivery other) {
    return new Delivery(other.record, other.bytes, partition, mark, arrival, null, end, trace);
  }

  private static long bytesOf(ConsumerRecord<byte[], byte[]> record) {
    long bytes = length(record.key()) + length(record.value());
    for (Header header : record.headers()) {
      bytes += header.key().length() + length(header.value());
    }
    return bytes;
  }

  private static long length(byte @Nullable [] part) {
    return part == null ? 0 : part.length;
  }

  /** Begins this once the delivery before it has ended, if it has to wait for one. */
  public void whenItsTurn(Runnable begin) {
    if (before == null) {
      begin.run();
    } else {
      var _ = before.thenRun(begin);
    }
  }

  /** This delivery has ended, and it is the next one's turn. */
  public void passTurnOn() {
    trace.end();
    end.run();
  }

  /** Lets its offset go: the record needs nothing more and may be committed. Thread-safe. */
  public void letOffsetGo() {
    mark.settle();
  }

  /** Whether this instance is still to process it. */
  public boolean isWanted() {
    return partition.isAssigned();
  }
}
