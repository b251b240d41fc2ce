package io.firstclaim.simulation.kafka;

import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/** An idempotent producer: tries again until the record is acknowledged or its time is over. */
final class SimulatedProducer {
  private static final Duration DELIVERY_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration A_TRY = Duration.ofMillis(60);
  private static final Duration CLOSING = Duration.ofMillis(20);

  private final Broker broker;
  private final Machine machine;

  SimulatedProducer(Broker broker, Machine machine) {
    this.broker = broker;
    this.machine = machine;
  }

  private static final class Sending {
    private final ProducerRecord<byte[], byte[]> record;
    private final TopicPartition to;
    private final @Nullable Callback callback;
    private final CompletableFuture<RecordMetadata> done = new CompletableFuture<>();
    private @Nullable RecordMetadata appended;

    Sending(ProducerRecord<byte[], byte[]> record, TopicPartition to, @Nullable Callback callback) {
      this.record = record;
      this.to = to;
      this.callback = callback;
    }
  }

  Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record) {
    return send(record, null);
  }

  Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, @Nullable Callback callback) {
    Integer partition = record.partition();
    TopicPartition to =
        new TopicPartition(record.topic(), partition == null ? partitionOf(record) : partition);
    Sending sending = new Sending(record, to, callback);
    attempt(sending, broker.world().elapsed().plus(DELIVERY_TIMEOUT));
    return sending.done;
  }

  private int partitionOf(ProducerRecord<byte[], byte[]> record) {
    byte[] key = record.key();
    int partitions = broker.partitions(record.topic()).size();
    return key == null ? 0 : Math.floorMod(Arrays.hashCode(key), partitions);
  }

  private void attempt(Sending sending, Duration deadline) {
    World world = broker.world();
    world.after(
        machine,
        world.upTo(A_TRY),
        () -> {
          if (broker.hears(machine) && sending.appended == null) {
            ProducerRecord<byte[], byte[]> record = sending.record;
            broker.append(machine, sending.to, record.key(), record.value(), record.headers());
            sending.appended =
                new RecordMetadata(
                    sending.to,
                    broker.log(sending.to).end() - 1,
                    0,
                    world.now().toEpochMilli(),
                    0,
                    0);
          }
          RecordMetadata appended = sending.appended;
          if (appended != null && broker.isHeardBy(machine)) {
            end(sending, appended, null);
          } else if (world.elapsed().compareTo(deadline) < 0) {
            attempt(sending, deadline);
          } else {
            end(sending, null, new TimeoutException("not acknowledged"));
          }
        });
  }

  /** Ends a send on a thread of the client, as the real one does it. */
  private void end(
      Sending sending, @Nullable RecordMetadata appended, @Nullable TimeoutException fault) {
    Thread _ =
        machine.start(
            "producer",
            () -> {
              if (fault == null) {
                sending.done.complete(appended);
              } else {
                sending.done.completeExceptionally(fault);
              }
              if (sending.callback != null) {
                sending.callback.onCompletion(appended, fault);
              }
            });
  }

  void flush() {
    LockSupport.parkNanos(CLOSING.toNanos());
  }

  void close() {
    LockSupport.parkNanos(CLOSING.toNanos());
  }

  void close(Duration within) {
    LockSupport.parkNanos(CLOSING.toNanos());
  }

  @Override
  public String toString() {
    return "producer of " + machine;
  }
}
