package io.firstclaim.bench;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * What a zone does, without an engine: a bare consumer, two writes a record by the bare SDK on
 * virtual threads, and a bare producer of outcomes, in one process. Nothing is renewed, heard,
 * ordered or tried again, and offsets are committed as they are polled.
 */
final class BareZone implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(100);

  /** About as long as an outcome. */
  private static final byte[] OUTCOME =
      ("{\"id\":\"bench-1-100\",\"outcome\":\"COMPLETED\",\"zone\":\"a\",\"instance\":\"a/bench\","
              + "\"token\":1,\"attempt\":1,\"topic\":\"bench-1\",\"partition\":1,\"offset\":1000,"
              + "\"at\":\"2026-01-01T00:00:00.000Z\",\"millis\":1}")
          .getBytes(StandardCharsets.UTF_8);

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final KafkaProducer<byte[], byte[]> producer;
  private final String outcomes;
  private final Semaphore places;
  private final Consumer<String> twoWrites;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final LongAdder completed = new LongAdder();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final AtomicBoolean stops = new AtomicBoolean();
  private final Thread poller = Thread.ofPlatform().unstarted(this::poll);

  private BareZone(
      String bootstrapServers,
      String topic,
      String outcomes,
      int atOnce,
      Consumer<String> twoWrites) {
    this.consumer = Stack.consumer(bootstrapServers, topic + "-bare");
    this.producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrapServers, "linger.ms", 50),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    this.outcomes = outcomes;
    this.places = new Semaphore(atOnce);
    this.twoWrites = twoWrites;
    consumer.subscribe(List.of(topic));
  }

  /** Takes so many records from the topic, so many at once. */
  static Figure run(Stack stack, int records, int atOnce, Consumer<String> twoWrites)
      throws InterruptedException {
    String topic = stack.topicOf(records, 100);
    try (BareZone zone =
        new BareZone(stack.bootstrapServers(), topic, stack.topic("outcomes"), atOnce, twoWrites)) {
      zone.poller.start();
      return Figure.measure(records, zone::completed);
    }
  }

  private long completed() {
    Throwable fault = failure.get();
    if (fault != null) {
      throw new IllegalStateException(fault);
    }
    return completed.sum();
  }

  private void poll() {
    while (!stops.get()) {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        places.acquireUninterruptibly();
        threads.execute(() -> process(record));
      }
      consumer.commitAsync();
    }
  }

  private void process(ConsumerRecord<byte[], byte[]> record) {
    try {
      twoWrites.accept(new String(record.key(), StandardCharsets.UTF_8));
      var _ =
          producer.send(
              new ProducerRecord<>(outcomes, record.key(), OUTCOME),
              (_, fault) -> {
                if (fault == null) {
                  completed.increment();
                } else {
                  failure.set(fault);
                }
              });
    } catch (RuntimeException e) {
      failure.set(e);
    } finally {
      places.release();
    }
  }

  @Override
  public void close() {
    stops.set(true);
    try {
      poller.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    threads.close();
    producer.close();
    consumer.close();
  }
}
