package io.firstclaim.micronaut.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.micronaut.Deduplicated;
import io.firstclaim.stack.server.KafkaBroker;
import io.firstclaim.stack.server.SharedServers;
import io.micronaut.configuration.kafka.annotation.ErrorStrategy;
import io.micronaut.configuration.kafka.annotation.ErrorStrategyValue;
import io.micronaut.configuration.kafka.annotation.KafkaListener;
import io.micronaut.configuration.kafka.annotation.OffsetReset;
import io.micronaut.configuration.kafka.annotation.OffsetStrategy;
import io.micronaut.configuration.kafka.annotation.Topic;
import io.micronaut.configuration.kafka.exceptions.KafkaListenerException;
import io.micronaut.configuration.kafka.exceptions.KafkaListenerExceptionHandler;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.event.BeanDestroyedEvent;
import io.micronaut.context.event.BeanDestroyedEventListener;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Whole applications on a real broker; claims are in memory, which they share. */
class DeduplicatedListenerTest {
  private static final int PARTITIONS = 2;
  private static final int DLT_PARTITIONS = 1;
  private static final KafkaBroker BROKER = SharedServers.kafka();
  private static KafkaProducer<String, String> producer;

  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final List<ApplicationContext> applications = new ArrayList<>();
  private String topic;

  @BeforeAll
  static void start() {
    producer = BROKER.producer();
  }

  @AfterAll
  static void stop() {
    producer.close();
  }

  @BeforeEach
  void topics(TestInfo test) {
    topic = "t" + test.getTestMethod().orElseThrow().getName().hashCode();
    BROKER.createTopic(topic, PARTITIONS);
  }

  @AfterEach
  void close() {
    applications.forEach(ApplicationContext::close);
  }

  /** What a listener does with a value; by default it remembers it. */
  @FunctionalInterface
  interface Work {
    void on(String value) throws Exception;
  }

  /** What the test and the listeners of all its applications share. */
  static final class Desk {
    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger faults = new AtomicInteger();
    private final AtomicReference<Work> work = new AtomicReference<>(value -> {});
    private final AtomicReference<Runnable> halfStopped = new AtomicReference<>(() -> {});

    void hear(String value) throws Exception {
      calls.incrementAndGet();
      work.get().on(value);
      done.add(value);
    }
  }

  private final Desk desk = new Desk();

  @Requires(property = "listener", value = "plain")
  @KafkaListener(
      groupId = "${group}",
      offsetReset = OffsetReset.EARLIEST,
      offsetStrategy = OffsetStrategy.SYNC_PER_RECORD,
      errorStrategy =
          @ErrorStrategy(
              value = ErrorStrategyValue.RETRY_ON_ERROR,
              retryDelay = "100ms",
              retryCount = Integer.MAX_VALUE),
      properties = @Property(name = "max.poll.records", value = "1"))
  static class Listener implements KafkaListenerExceptionHandler {
    private final Desk desk;

    Listener(Desk desk) {
      this.desk = desk;
    }

    @Topic("${topic}")
    @Deduplicated(name = "payments", id = "header:id")
    void hear(String value) throws Exception {
      desk.hear(value);
    }

    /** Told of what is not a listener's: a commit that failed, as it takes no retries for that. */
    @Override
    public void handle(KafkaListenerException failure) {
      desk.faults.incrementAndGet();
    }
  }

  /** Counts what its consumer takes from the broker. */
  public static final class Deliveries implements ConsumerInterceptor<Object, Object> {
    private static final AtomicInteger COUNT = new AtomicInteger();

    @Override
    public ConsumerRecords<Object, Object> onConsume(ConsumerRecords<Object, Object> records) {
      COUNT.addAndGet(records.count());
      return records;
    }

    @Override
    public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {}

    @Override
    public void configure(Map<String, ?> settings) {}

    @Override
    public void close() {}
  }

  /** Of an application that stops, when the deduplicator is gone and its consumers are not yet. */
  @Singleton
  @Requires(property = "listener", value = "plain")
  static class HalfStopped implements BeanDestroyedEventListener<Deduplicator> {
    private final Desk desk;

    HalfStopped(Desk desk) {
      this.desk = desk;
    }

    @Override
    public void onDestroyed(BeanDestroyedEvent<Deduplicator> event) {
      desk.halfStopped.get().run();
    }
  }

  private FaultyStore store() {
    return store(Duration.ofSeconds(30));
  }

  private FaultyStore store(Duration lease) {
    return new FaultyStore(
        new MemoryClaimStore(
            claims,
            new ClaimSettings(
                "shop",
                "i" + applications.size(),
                lease,
                Duration.ofMillis(500),
                Duration.ofDays(1)),
            TimeSource.system()));
  }

  private ApplicationContext run(String group, ClaimStore store, String... settings) {
    Map<String, Object> all = new HashMap<>();
    all.put("listener", "plain");
    all.put("topic", topic);
    all.put("group", topic + "-" + group);
    all.put("kafka.bootstrap.servers", BROKER.bootstrapServers());
    all.put("kafka.health.enabled", false);
    all.put("firstclaim.application", "shop");
    all.put("firstclaim.claim.lease", "30s");
    all.put("firstclaim.claim.max-skew", "500ms");
    all.put("firstclaim.retry.max-attempts", 2);
    all.put("firstclaim.retry.backoff", "50ms");
    all.put("firstclaim.retry.max-backoff", "50ms");
    for (int i = 0; i < settings.length; i += 2) {
      all.put(settings[i], settings[i + 1]);
    }
    ApplicationContext application =
        ApplicationContext.builder()
            .deduceEnvironment(false)
            .properties(all)
            .singletons(desk, store)
            .start();
    applications.add(application);
    return application;
  }

  private ApplicationContext run(String group, String... settings) {
    return run(group, store(), settings);
  }

  private void send(@Nullable String id, String value) {
    ProducerRecord<String, String> record = new ProducerRecord<>(topic, value, value);
    if (id != null) {
      record.headers().add("id", id.getBytes(UTF_8));
    }
    var _ = producer.send(record);
  }

  /** Each record twice, as one that is produced again. */
  private void sendAllTwice(int count) {
    for (int round = 0; round < 2; round++) {
      IntStream.range(0, count).forEach(i -> send("id-" + i, "v" + i));
    }
    producer.flush();
  }

  private static Set<String> values(int count) {
    return IntStream.range(0, count).mapToObj(i -> "v" + i).collect(Collectors.toSet());
  }

  private long committed(String group) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", BROKER.bootstrapServers()))) {
      return admin
          .listConsumerGroupOffsets(topic + "-" + group)
          .partitionsToOffsetAndMetadata()
          .get()
          .values()
          .stream()
          .mapToLong(offset -> offset == null ? 0 : offset.offset())
          .sum();
    }
  }

  private void awaitCommitted(String group, long offsets) {
    eventually(() -> committed(group) == offsets);
  }

  private static void eventually(java.util.concurrent.Callable<Boolean> holds) {
    Awaitility.await()
        .pollInterval(Duration.ofMillis(50))
        .atMost(Duration.ofMinutes(10))
        .until(holds);
  }

  private List<ConsumerRecord<byte[], byte[]>> deadLetters(int count) {
    List<ConsumerRecord<byte[], byte[]>> letters = Collections.synchronizedList(new ArrayList<>());
    Map<String, Object> settings = new HashMap<>();
    settings.put("bootstrap.servers", BROKER.bootstrapServers());
    settings.put("auto.offset.reset", "earliest");
    settings.put("enable.auto.commit", "false");
    try (var consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(List.of(new TopicPartition(topic + ".dlt", 0)));
      eventually(
          () -> {
            consumer.poll(Duration.ofMillis(200)).forEach(letters::add);
            return letters.size() >= count;
          });
    }
    return letters;
  }

  private static String header(ConsumerRecord<byte[], byte[]> record, String name) {
    return new String(record.headers().lastHeader(name).value(), UTF_8);
  }

  @Test
  void twoZones_doEachRecordOnce_andBothMoveOn() throws Exception {
    sendAllTwice(20);
    run("zone-a");
    run("zone-b");

    awaitCommitted("zone-a", 40);
    awaitCommitted("zone-b", 40);

    assertThat(desk.done).hasSize(20).containsExactlyInAnyOrderElementsOf(values(20));
  }

  @Test
  void listenerThatFails_isTriedAgain_thenItsRecordIsADeadLetter_andTheNextIsDone()
      throws Exception {
    BROKER.createTopic(topic + ".dlt", DLT_PARTITIONS);
    desk.work.set(
        value -> {
          if (value.equals("bad")) {
            throw new IllegalStateException("card declined");
          }
        });
    Instant sent = Instant.now();
    send("id-bad", "bad");
    send("id-good", "good");
    producer.flush();
    run("g");
    awaitCommitted("g", 2);

    assertThat(desk.done).containsExactly("good");
    assertThat(desk.calls).hasValue(3);
    assertThat(deadLetters(1))
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.key()).isEqualTo("bad".getBytes(UTF_8));
              assertThat(letter.value()).isEqualTo("bad".getBytes(UTF_8));
              assertThat(header(letter, "id")).isEqualTo("id-bad");
              assertThat(header(letter, "firstclaim-id")).isEqualTo("payments:id-bad");
              assertThat(header(letter, "firstclaim-attempts")).isEqualTo("2");
              assertThat(header(letter, "firstclaim-cause")).contains("card declined");
              assertThat(header(letter, "firstclaim-topic")).isEqualTo(topic);
              assertThat(Long.parseLong(header(letter, "firstclaim-timestamp")))
                  .isBetween(sent.toEpochMilli(), letter.timestamp());
            });

    // It is dead for whoever comes later, and its letter was acknowledged.
    run("later");
    awaitCommitted("later", 2);
    assertThat(desk.calls).hasValue(3);
  }

  @Test
  void recordIsKept_untilItsDeadLetterIsAcknowledged() throws Exception {
    desk.work.set(
        value -> {
          throw new IllegalStateException("card declined");
        });
    send("id-bad", "bad");
    producer.flush();
    FaultyStore store = store();
    run("g", store, "kafka.producers.default.max.block.ms", "300");
    // The topic of dead letters is missing: attempts go on to end without one.
    eventually(() -> store.calls(FaultyStore.Op.RELEASE) >= 3);
    assertThat(committed("g")).isZero();
    assertThat(store.calls(FaultyStore.Op.BURY)).isZero();
    assertThat(desk.calls).hasValue(2);

    BROKER.createTopic(topic + ".dlt", DLT_PARTITIONS);
    awaitCommitted("g", 1);

    assertThat(store.calls(FaultyStore.Op.BURY)).isOne();
    assertThat(deadLetters(1)).hasSize(1);
    assertThat(desk.calls).hasValue(2);
  }

  @Test
  void recordWithoutAnId_andOneOfAnotherPayload_areDeadLetters() throws Exception {
    BROKER.createTopic(topic + ".dlt", DLT_PARTITIONS);
    send(null, "nameless");
    send("id-1", "one");
    send("id-1", "one");
    producer.flush();
    run("g");
    awaitCommitted("g", 3);
    send("id-1", "other");
    producer.flush();
    awaitCommitted("g", 4);

    assertThat(desk.done).containsExactly("one");
    assertThat(deadLetters(2))
        .extracting(letter -> new String(letter.value(), UTF_8))
        .containsExactly("nameless", "other");
  }

  @Test
  void storeThatIsAway_skipsNoRecord() throws Exception {
    FaultyStore store = store();
    store.setDown(true);
    sendAllTwice(5);
    run("g", store);
    eventually(() -> store.calls(FaultyStore.Op.CLAIM) > 3);
    assertThat(committed("g")).isZero();
    assertThat(desk.calls).hasValue(0);

    store.setDown(false);
    awaitCommitted("g", 10);

    assertThat(desk.done).hasSize(5).containsExactlyInAnyOrderElementsOf(values(5));
  }

  /** For two seconds, or a minute in a soak; a record is under way as it goes. */
  @Test
  void storeThatGoesAwayInTheMiddle_skipsNothing_inEitherZone() throws Exception {
    CountDownLatch gone = new CountDownLatch(1);
    desk.work.set(
        value -> {
          if (value.equals("v5")) {
            gone.await();
          }
        });
    FaultyStore storeOfA = store();
    run("zone-a", storeOfA);
    FaultyStore storeOfB = store();
    run("zone-b", storeOfB);
    sendAllTwice(5);
    awaitCommitted("zone-a", 10);
    awaitCommitted("zone-b", 10);
    send("id-5", "v5");
    producer.flush();
    eventually(() -> desk.calls.get() == 6);

    storeOfA.setDown(true);
    storeOfB.setDown(true);
    gone.countDown();
    sendAllTwice(20);
    Awaitility.await()
        .pollInterval(Duration.ofMillis(200))
        .during(Duration.ofSeconds(Soak.times(2, 60)))
        .atMost(Duration.ofMinutes(10))
        .until(
            () -> committed("zone-a") == 10 && committed("zone-b") == 10 && desk.calls.get() == 6);
    storeOfA.setDown(false);
    storeOfB.setDown(false);
    awaitCommitted("zone-a", 51);
    awaitCommitted("zone-b", 51);

    assertThat(desk.done)
        .filteredOn(value -> !value.equals("v5"))
        .doesNotHaveDuplicates()
        .hasSize(19);
    assertThat(desk.done)
        .as("handled again if its lease is over before the store can be told that it is done")
        .filteredOn("v5"::equals)
        .hasSizeBetween(1, 2);
  }

  @Test
  void recordThatAnotherIsAt_isKept_untilItIsDone() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    desk.work.set(value -> go.await());
    send("id-0", "v0");
    producer.flush();
    run("zone-a");
    eventually(() -> desk.calls.get() == 1);
    FaultyStore other = store();
    run("zone-b", other);
    eventually(() -> other.calls(FaultyStore.Op.CLAIM) >= 2);
    assertThat(committed("zone-b")).isZero();

    go.countDown();
    awaitCommitted("zone-b", 1);
    awaitCommitted("zone-a", 1);

    assertThat(desk.done).containsExactly("v0");
  }

  /** An application at the first of five records, whose listener ends when it is interrupted. */
  private ApplicationContext atWork(String... settings) {
    CountDownLatch never = new CountDownLatch(1);
    desk.work.set(value -> never.await());
    sendAllTwice(5);
    ApplicationContext application = run("g", settings);
    eventually(() -> desk.calls.get() > 0);
    return application;
  }

  @Test
  void stopInTheMiddle_losesNothing_andAnotherGoesOn() throws Exception {
    ApplicationContext stopped = atWork();

    stopped.close();
    assertThat(committed("g")).isZero();
    desk.work.set(value -> {});
    run("g");
    awaitCommitted("g", 10);

    assertThat(desk.done).hasSize(5).containsExactlyInAnyOrderElementsOf(values(5));
  }

  @Test
  void recordsThatComeDuringAStop_areKept() throws Exception {
    ApplicationContext stopped =
        atWork(
            "kafka.consumers.default.interceptor.classes",
            Deliveries.class.getName(),
            "firstclaim.handler.timeout",
            "1m");
    desk.halfStopped.set(
        () -> {
          int before = Deliveries.COUNT.get();
          eventually(() -> Deliveries.COUNT.get() > before + 2);
        });

    stopped.close();

    assertThat(desk.calls).hasValue(1);
    assertThat(committed("g")).isZero();
  }

  @Test
  void rebalanceInTheMiddle_losesNothing_andDoesNothingTwice() throws Exception {
    Set<String> slow = ConcurrentHashMap.newKeySet();
    CountDownLatch joined = new CountDownLatch(1);
    desk.work.set(
        value -> {
          if (slow.add("first")) {
            joined.await();
          }
        });
    sendAllTwice(20);
    run("g");
    eventually(() -> desk.calls.get() > 0);
    run("g");
    joined.countDown();
    awaitCommitted("g", 40);

    assertThat(desk.done).hasSize(20).containsExactlyInAnyOrderElementsOf(values(20));
  }

  @Test
  void commitThatFails_skipsNothing() throws Exception {
    BROKER.createTopic(topic + "-one", 1);
    topic = topic + "-one";
    AtomicInteger calls = new AtomicInteger();
    AtomicInteger faultsBefore = new AtomicInteger(-1); // the first commit may be late, too
    desk.work.set(
        value -> {
          if (calls.incrementAndGet() == 2) {
            BROKER.pause(); // so the commit of this record is not answered
            faultsBefore.set(desk.faults.get());
          }
        });
    for (int i = 0; i < 6; i++) {
      send("id-" + i, "v" + i);
    }
    producer.flush();
    // Whose lease is over keeps its record, and commits nothing: here it must not be.
    run(
        "g",
        store(Duration.ofMinutes(2)),
        "firstclaim.claim.lease",
        "2m",
        "kafka.default.api.timeout.ms",
        "2000",
        "kafka.request.timeout.ms",
        "1000");
    try {
      eventually(() -> faultsBefore.get() >= 0 && desk.faults.get() > faultsBefore.get());
    } finally {
      BROKER.resume(); // the other tests need it
    }
    awaitCommitted("g", 6);

    assertThat(desk.done).hasSize(6).containsExactlyInAnyOrderElementsOf(values(6));
  }
}
