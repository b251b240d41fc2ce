package io.firstclaim.processor.engine.consumer;

import io.firstclaim.lock.Moment;
import io.firstclaim.processor.engine.offset.Watermark;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * One delivery of a record.
 *
 * @param record the record
 * @param partition where it came from
 * @param mark to settle once the record needs nothing more
 * @param arrival when it was polled
 * @param before the delivery that must end first, if records are ordered
 * @param end to run once this one has ended
 */
record Delivery(
    ConsumerRecord<byte[], byte[]> record,
    AssignedPartition partition,
    Watermark.Mark mark,
    Moment arrival,
    @Nullable CountDownLatch before,
    Runnable end) {

  /** Waits until the delivery before it has ended, if it has to. */
  void awaitTurn() throws InterruptedException {
    if (before != null) {
      before.await();
    }
  }

  /** This one has ended, and it is the next one's turn. */
  void passTurnOn() {
    end.run();
  }

  /** Lets its offset go: the record needs nothing more and may be committed. Thread-safe. */
  void letOffsetGo() {
    mark.settle();
  }

  /** Whether this instance is still to process it. */
  boolean isWanted() {
    return partition.isAssigned();
  }
}
