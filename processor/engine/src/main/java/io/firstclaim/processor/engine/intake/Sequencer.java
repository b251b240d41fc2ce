package io.firstclaim.processor.engine.intake;

import io.firstclaim.lock.Moment;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.trace.Trace;
import io.firstclaim.processor.engine.trace.Tracing;
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
public final class Sequencer {
  private record Line(AssignedPartition partition, Optional<ByteBuffer> key) {}

  private final Ordering ordering;
  private final Tracing tracing;
  private final Map<Line, CompletableFuture<Void>> ends = new ConcurrentHashMap<>();

  /** Nothing is in line; each delivery has a trace by this. */
  public Sequencer(Ordering ordering, Tracing tracing) {
    this.ordering = ordering;
    this.tracing = tracing;
  }

  /** How many lines there are with a record in them, waiting or at work. */
  int lines() {
    return ends.size();
  }

  /** A record was polled: what has to wait does so from now on. */
  Delivery deliver(
      ConsumerRecord<byte[], byte[]> record, AssignedPartition partition, Moment arrival) {
    Trace trace = tracing.begin(record);
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
          ended.complete(null);
          ends.remove(line.get(), ended);
        },
        trace);
  }
}
