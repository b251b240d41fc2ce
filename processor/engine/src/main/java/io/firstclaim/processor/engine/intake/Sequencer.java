package io.firstclaim.processor.engine.intake;

import io.firstclaim.lock.Moment;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.trace.Trace;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Makes records wait for each other: each for the one before it in its partition or with its key.
 * Used by the polling thread.
 */
final class Sequencer {
  private record Line(AssignedPartition partition, Optional<ByteBuffer> key) {}

  private final Ordering ordering;
  private final Map<Line, CompletableFuture<Void>> ends = new ConcurrentHashMap<>();

  Sequencer(Ordering ordering) {
    this.ordering = ordering;
  }

  /** How many lines there are with a record in them, waiting or at work. */
  int lines() {
    return ends.size();
  }

  Delivery deliver(
      ConsumerRecord<byte[], byte[]> record,
      AssignedPartition partition,
      Moment arrival,
      Trace trace) {
    Optional<Line> line =
        switch (ordering) {
          case UNORDERED -> Optional.empty();
          case PARTITION -> Optional.of(new Line(partition, Optional.empty()));
          // Records without a key have no order among them.
          case KEY ->
              Optional.ofNullable(record.key())
                  .map(key -> new Line(partition, Optional.of(ByteBuffer.wrap(key))));
        };
    if (line.isEmpty()) {
      return new Delivery(
          record, partition, partition.delivered(record), arrival, null, () -> {}, trace);
    }
    CompletableFuture<Void> ended = new CompletableFuture<>();
    CompletableFuture<Void> before = ends.put(line.get(), ended);
    return new Delivery(
        record,
        partition,
        partition.delivered(record),
        arrival,
        before,
        () -> {
          boolean _ = ended.complete(null);
          boolean _ = ends.remove(line.get(), ended);
        },
        trace);
  }
}
