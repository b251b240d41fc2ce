package io.firstclaim.processor.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.kafka.Clients;
import io.firstclaim.processor.engine.kafka.TopicIds;
import io.firstclaim.processor.engine.outcome.WireOutcome;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Kafka's own mocks, joined: what any producer publishes to the outcomes topic, all feeds read. */
final class TestBroker implements Clients {
  static final String OUTCOMES = "outcomes";
  static final String DEAD_LETTERS = "in.dlt";

  private static final TopicPartition PARTITION = new TopicPartition(OUTCOMES, 0);

  private final List<ProducerRecord<byte[], byte[]>> published = new CopyOnWriteArrayList<>();
  private final List<Producer<byte[], byte[]>> outcomesProducers = new CopyOnWriteArrayList<>();
  private final List<FeedConsumer> feeds = new CopyOnWriteArrayList<>();
  private final Set<String> refused = ConcurrentHashMap.newKeySet();
  private volatile Consumer<byte[], byte[]> input;
  private volatile boolean answers = true;
  private volatile @Nullable TestTopicIds topicIds;
  private final AtomicReference<@Nullable Error> nextSend = new AtomicReference<>();

  /** A broker for tests that deliver the records themselves. */
  TestBroker() {
    this(new MockConsumer<>("earliest"));
  }

  /** A broker with this input, which one instance reads. */
  TestBroker(Consumer<byte[], byte[]> input) {
    this.input = input;
  }

  /** Whoever reads the input from now on is given this. */
  void inputIsNow(Consumer<byte[], byte[]> next) {
    input = next;
  }

  /** Whoever begins to read the input from now on is told these. */
  void tells(TestTopicIds ids) {
    topicIds = ids;
  }

  /** Whoever reads outcomes gets no answers any more. */
  void fallSilent() {
    answers = false;
  }

  /** The next message is met by an error of the machine. */
  void failOnce(Error by) {
    nextSend.set(by);
  }

  /** Nothing is acknowledged on this topic. */
  void refuse(String topic) {
    refused.add(topic);
  }

  /** All is well again. */
  void accept(String topic) {
    refused.remove(topic);
  }

  /** An instance with another store says this, whose place is the topic's very beginning. */
  void presence(String sender, int beat, String kind) {
    String json =
        """
        {"outcome":"%s","zone":"b","instance":"b1","group":"b","topics":["%s"],"beat":%d,"since":0}
        """
            .formatted(kind, beat == 0 ? "other" : "in", beat);
    ProducerRecord<byte[], byte[]> message =
        new ProducerRecord<>(OUTCOMES, sender.getBytes(UTF_8), json.getBytes(UTF_8));
    Map.of(
            "firstclaim-presence", "1",
            "firstclaim-application", "firstclaim",
            "firstclaim-namespace", "test",
            "firstclaim-store", "another",
            "firstclaim-sender", sender)
        .forEach((name, value) -> message.headers().add(name, value.getBytes(UTF_8)));
    feeds.forEach(feed -> feed.publish(message));
  }

  List<Outcome> published() {
    return on(OUTCOMES).stream()
        .filter(message -> message.headers().lastHeader("firstclaim-presence") == null)
        .map(message -> WireOutcome.read(message.value()))
        .toList();
  }

  List<Outcome> outcomes(Outcome.Kind kind) {
    return published().stream().filter(outcome -> outcome.kind() == kind).toList();
  }

  List<ProducerRecord<byte[], byte[]>> deadLetters() {
    return on(DEAD_LETTERS);
  }

  /** Whether every feed has taken in all that was published. */
  boolean allHeard() {
    return feeds.stream().allMatch(FeedConsumer::hasHeardAll);
  }

  static String header(ProducerRecord<byte[], byte[]> message, String name) {
    return new String(Objects.requireNonNull(message.headers().lastHeader(name)).value(), UTF_8);
  }

  private List<ProducerRecord<byte[], byte[]>> on(String topic) {
    return published.stream().filter(message -> message.topic().equals(topic)).toList();
  }

  @Override
  public Producer<byte[], byte[]> outcomesProducer() {
    Producer<byte[], byte[]> producer = producer();
    outcomesProducers.add(producer);
    return producer;
  }

  /** What wrote outcomes, one for each instance. */
  List<Producer<byte[], byte[]>> outcomesProducers() {
    return outcomesProducers;
  }

  @Override
  public Admin admin() {
    throw new UnsupportedOperationException("the engine is begun where its topics are known");
  }

  @Override
  public boolean hasAddress() {
    return true;
  }

  @Override
  public Producer<byte[], byte[]> producer() {
    return new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer()) {
      @Override
      public synchronized Future<RecordMetadata> send(
          ProducerRecord<byte[], byte[]> message, Callback callback) {
        Error error = nextSend.getAndSet(null);
        if (error != null) {
          throw error;
        }
        if (refused.contains(message.topic())) {
          TimeoutException fault = new TimeoutException("not acknowledged");
          if (callback != null) {
            callback.onCompletion(null, fault);
          }
          return CompletableFuture.failedFuture(fault);
        }
        published.add(message);
        if (message.topic().equals(OUTCOMES)) {
          feeds.forEach(feed -> feed.publish(message));
        }
        return super.send(message, callback);
      }

      // For ever: flushing waits until all is acknowledged, and knows no time limit.
      @Override
      @SuppressWarnings("UnsynchronizedOverridesSynchronized") // it waits without the lock
      public void flush() {
        try {
          new CountDownLatch(1).await();
        } catch (InterruptedException e) {
          throw new InterruptException(e);
        }
      }
    };
  }

  /** None, unless a test makes a topic anew. */
  @Override
  public TopicIds topicIds() {
    return topicIds == null
        ? new TopicIds(
            () -> {
              throw new UnsupportedOperationException();
            },
            List.of())
        : topicIds.asked();
  }

  /** An input that has no records, unless a test gives it another. */
  @Override
  public Consumer<byte[], byte[]> input() {
    return input;
  }

  @Override
  public Consumer<byte[], byte[]> outcomes() {
    FeedConsumer feed = new FeedConsumer();
    feeds.add(feed);
    return feed;
  }

  /** Reads the outcomes topic from now on. */
  private final class FeedConsumer extends MockConsumer<byte[], byte[]> {
    private long end;
    private long handedOut;
    private volatile long heard;

    FeedConsumer() {
      super("latest");
      updatePartitions(
          OUTCOMES,
          List.of(new PartitionInfo(OUTCOMES, 0, Node.noNode(), new Node[0], new Node[0])));
      updateBeginningOffsets(Map.of(PARTITION, 0L));
      updateEndOffsets(Map.of(PARTITION, 0L));
    }

    synchronized void publish(ProducerRecord<byte[], byte[]> message) {
      long offset = end++;
      schedulePollTask(
          () ->
              addRecord(
                  new ConsumerRecord<>(
                      OUTCOMES,
                      0,
                      offset,
                      0,
                      TimestampType.CREATE_TIME,
                      message.key().length,
                      message.value().length,
                      message.key(),
                      message.value(),
                      new RecordHeaders(message.headers()),
                      Optional.empty())));
    }

    synchronized boolean hasHeardAll() {
      return heard == end;
    }

    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // it waits without the lock
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
      heard = handedOut; // who polls again has done with what it was given
      ConsumerRecords<byte[], byte[]> records = super.poll(timeout);
      handedOut += records.count();
      if (records.isEmpty()) {
        LockSupport.parkNanos(1_000_000); // a real one would wait for records
      }
      return records;
    }

    @Override
    public synchronized Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> of) {
      if (!answers) {
        throw new TimeoutException("no broker");
      }
      return super.endOffsets(of);
    }

    @Override
    public synchronized Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(
        Map<TopicPartition, Long> times) {
      Map<TopicPartition, OffsetAndTimestamp> none = new HashMap<>();
      times.keySet().forEach(partition -> none.put(partition, null));
      return none;
    }
  }
}
