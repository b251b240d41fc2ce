package io.firstclaim.processor.engine.outcome;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Learns from the outcomes topic what the other instances, of this zone and the others, have done:
 * which records are done, when a failed one is due, and which zones are alive. Reads every
 * partition from shortly before its own start; a thread of its own owns the consumer.
 */
public final class OutcomeFeed implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OutcomeFeed.class);
  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration SILENT = Duration.ofSeconds(5);

  /**
   * How long more outcomes gather after just a few: a fetch for each would cost more than all else.
   */
  private static final Duration GATHER = Duration.ofMillis(5);

  private static final int FEW = 100;

  private static final Duration PAUSE_AFTER_FAULT = Duration.ofSeconds(1);

  /** How much of the past to read at start, to learn what was announced while this was down. */
  private static final Duration LOOK_BACK = Duration.ofMinutes(2);

  private static final long LOOK_BACK_RECORDS = 5_000;

  /** Zone names come from the topic, where anybody may write. */
  private static final int MAX_ZONES = 1_000;

  /** Hears outcomes. Must not block. */
  @FunctionalInterface
  public interface Listener {
    /** A record with this ID and payload had this outcome. */
    void heard(RecordId id, Fingerprint fingerprint, Outcome outcome);
  }

  private final Consumer<byte[], byte[]> consumer;
  private final String topic;
  private final byte[] namespace;
  private final byte[] self;
  private final KnownDone known;
  private final Listener listener;
  private final TimeSource time;
  private final Map<String, Instant> lastSign = new ConcurrentHashMap<>();
  private final CountDownLatch caughtUp = new CountDownLatch(1);
  private final Thread thread;
  private volatile boolean closed;
  private volatile @Nullable Moment lastPoll;

  /**
   * A feed that is not running yet.
   *
   * @param consumer without a group; owned and closed by the feed
   * @param self the sender whose outcomes are passed over, as they are known already
   * @param known is told of every record that ended
   * @param listener is told of every outcome of this namespace
   */
  public OutcomeFeed(
      Consumer<byte[], byte[]> consumer,
      String topic,
      String namespace,
      String self,
      KnownDone known,
      Listener listener,
      TimeSource time) {
    this.consumer = consumer;
    this.topic = topic;
    this.namespace = namespace.getBytes(UTF_8);
    this.self = self.getBytes(UTF_8);
    this.known = known;
    this.listener = listener;
    this.time = time;
    this.thread = Thread.ofPlatform().name("firstclaim-outcomes").daemon().unstarted(this::run);
  }

  /** Starts to read; returns once the recent past is known, or after the limit. */
  public void start(Duration limit) throws InterruptedException {
    thread.start();
    if (!caughtUp.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
      LOG.warn("Topic {} was not read to its end within {}; going on without it", topic, limit);
    }
  }

  /** Whether what is published is heard at once. If not, the lock store must be asked. */
  public boolean isLive() {
    Moment last = lastPoll;
    return last != null && time.now().since(last).compareTo(SILENT) < 0;
  }

  /** When this zone last published an outcome, as far as known. */
  public @Nullable Instant lastSignOf(String zone) {
    return lastSign.get(zone);
  }

  private void run() {
    while (!closed) {
      try {
        read();
      } catch (WakeupException e) {
        // close() wants the thread to check closed
      } catch (RuntimeException e) { // whatever it is, the feed goes on
        LOG.warn("Topic {} cannot be read; the lock store is asked instead", topic, e);
        pause();
      }
    }
    consumer.close();
  }

  private void read() {
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic).stream()
            .map(info -> new TopicPartition(info.topic(), info.partition()))
            .toList();
    if (partitions.isEmpty()) {
      throw new KafkaException("topic %s is not there".formatted(topic));
    }
    consumer.assign(partitions);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    seekToRecentPast(partitions, ends);
    while (!closed) {
      lastPoll = time.now();
      // Before the poll, which waits if there is nothing to read.
      if (caughtUp.getCount() > 0
          && ends.entrySet().stream()
              .allMatch(end -> consumer.position(end.getKey()) >= end.getValue())) {
        caughtUp.countDown();
      }
      ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
      records.forEach(this::learn);
      if (caughtUp.getCount() == 0 && !records.isEmpty() && records.count() < FEW) {
        LockSupport.parkNanos(this, GATHER.toNanos());
      }
    }
  }

  private void seekToRecentPast(List<TopicPartition> partitions, Map<TopicPartition, Long> ends) {
    Instant from = time.now().wall().minus(LOOK_BACK);
    known.startAt(from);
    Map<TopicPartition, Long> times = new HashMap<>();
    partitions.forEach(partition -> times.put(partition, from.toEpochMilli()));
    Map<TopicPartition, Long> begins = consumer.beginningOffsets(partitions);
    consumer
        .offsetsForTimes(times)
        .forEach(
            (partition, found) -> {
              long end = ends.getOrDefault(partition, 0L);
              long start = found == null ? end : found.offset();
              long least = Math.max(begins.getOrDefault(partition, 0L), end - LOOK_BACK_RECORDS);
              if (start < least) {
                // More than is read back; what came before is simply unknown.
                known.startAt(time.now().wall());
              }
              consumer.seek(partition, Math.max(start, least));
            });
  }

  private void learn(ConsumerRecord<byte[], byte[]> message) {
    byte[] key = message.key();
    byte[] value = message.value();
    if (key == null
        || key.length == 0
        || key.length > RecordId.MAX_BYTES
        || value == null
        || !Arrays.equals(namespace, header(message, OutcomePublisher.NAMESPACE))
        || Arrays.equals(self, header(message, OutcomePublisher.SENDER))) {
      return;
    }
    Optional<Fingerprint> payload = fingerprint(message);
    Optional<Outcome> read = payload.isEmpty() ? Optional.empty() : OutcomeFormat.read(value);
    if (read.isEmpty()) {
      return;
    }
    RecordId id = RecordId.of(key);
    Fingerprint fingerprint = payload.get();
    Outcome outcome = read.get();
    sign(outcome.zone(), outcome.at());
    switch (outcome.kind()) {
      case COMPLETED, DEAD, MISMATCH -> known.add(id, fingerprint, outcome.at());
      case FAILED, TAKEN_OVER, LEASE_LOST -> {}
    }
    listener.heard(id, fingerprint, outcome);
  }

  private void sign(String zone, Instant at) {
    if (lastSign.size() < MAX_ZONES || lastSign.containsKey(zone)) {
      lastSign.merge(zone, at, (a, b) -> a.isAfter(b) ? a : b);
    }
  }

  private static Optional<Fingerprint> fingerprint(ConsumerRecord<byte[], byte[]> message) {
    byte[] hash = header(message, OutcomePublisher.FINGERPRINT);
    try {
      return Optional.ofNullable(hash).map(Fingerprint::ofHash);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static byte @Nullable [] header(ConsumerRecord<byte[], byte[]> message, String name) {
    Header header = message.headers().lastHeader(name);
    return header == null ? null : header.value();
  }

  private void pause() {
    try {
      Thread.sleep(PAUSE_AFTER_FAULT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      closed = true;
    }
  }

  @Override
  public void close() {
    closed = true;
    consumer.wakeup();
    try {
      thread.join(PAUSE_AFTER_FAULT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
