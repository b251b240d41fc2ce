package io.firstclaim.spring.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.spring.AutoConfigured;
import io.firstclaim.spring.Deduplicated;
import io.firstclaim.stack.server.KafkaBroker;
import io.firstclaim.stack.server.SharedServers;
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
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
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
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.Acknowledgment;

/** Whole applications on a real broker; claims are in memory, which they share. */
class DeduplicatedListenerTest {
  private static final int PARTITIONS = 2;
  private static final int DLT_PARTITIONS = 1;
  private static final KafkaBroker BROKER = SharedServers.kafka();
  private static KafkaProducer<String, String> producer;

  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final List<ConfigurableApplicationContext> applications = new ArrayList<>();
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
    applications.forEach(ConfigurableApplicationContext::close);
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
    private final AtomicReference<Work> work = new AtomicReference<>(value -> {});

    void hear(String value) throws Exception {
      calls.incrementAndGet();
      work.get().on(value);
      done.add(value);
    }
  }

  private final Desk desk = new Desk();

  static class Listener {
    private final Desk desk;

    Listener(Desk desk) {
      this.desk = desk;
    }

    @KafkaListener(topics = "${topic}", groupId = "${group}")
    @Deduplicated(name = "payments", id = "header:id")
    void hear(String value) throws Exception {
      desk.hear(value);
    }
  }

  static class Acknowledging {
    private final Desk desk;

    Acknowledging(Desk desk) {
      this.desk = desk;
    }

    @KafkaListener(topics = "${topic}", groupId = "${group}")
    @Deduplicated(name = "payments", id = "header:id")
    void hear(String value, Acknowledgment acknowledgment) throws Exception {
      acknowledgment.acknowledge(); // before its work, as one should not
      desk.hear(value);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @AutoConfigured
  static class Application {
    @Bean
    TimeSource time() {
      return TimeSource.system();
    }
  }

  private FaultyStore store() {
    return new FaultyStore(
        new MemoryClaimStore(
            claims,
            new ClaimSettings(
                "shop",
                "i" + applications.size(),
                Duration.ofSeconds(30),
                Duration.ofMillis(500),
                Duration.ofDays(1)),
            TimeSource.system()));
  }

  private ConfigurableApplicationContext run(
      String group, ClaimStore store, Class<?> listener, String... settings) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "topic=" + topic,
                "group=" + topic + "-" + group,
                "spring.kafka.bootstrap-servers=" + BROKER.bootstrapServers(),
                "spring.kafka.consumer.auto-offset-reset=earliest",
                "spring.kafka.listener.poll-timeout=200ms",
                "spring.kafka.listener.concurrency=1",
                "firstclaim.application=shop",
                "firstclaim.claim.lease=30s",
                "firstclaim.claim.max-skew=500ms",
                "firstclaim.retry.max-attempts=2",
                "firstclaim.retry.backoff=50ms",
                "firstclaim.retry.max-backoff=50ms",
                "spring.main.banner-mode=off",
                "logging.level.root=WARN"));
    all.addAll(List.of(settings));
    ConfigurableApplicationContext application =
        new SpringApplicationBuilder(Application.class, listener)
            .web(WebApplicationType.NONE)
            .properties(all.toArray(String[]::new))
            .initializers(
                context -> {
                  context.getBeanFactory().registerSingleton("desk", desk);
                  context.getBeanFactory().registerSingleton("store", store);
                })
            .run();
    applications.add(application);
    return application;
  }

  private ConfigurableApplicationContext run(String group, Class<?> listener, String... settings) {
    return run(group, store(), listener, settings);
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
    run("zone-a", Listener.class);
    run("zone-b", Listener.class);

    awaitCommitted("zone-a", 40);
    awaitCommitted("zone-b", 40);

    assertThat(desk.done).hasSize(20).containsExactlyInAnyOrderElementsOf(values(20));
  }

  @Test
  void consumersOfOneContainer_doEachRecordOnce() throws Exception {
    sendAllTwice(20);
    run("g", Listener.class, "spring.kafka.listener.concurrency=" + PARTITIONS);

    awaitCommitted("g", 40);

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
    run("g", store(), Listener.class, "spring.kafka.producer.retries=0");
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
    run("later", Listener.class);
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
    run("g", store, Listener.class, "spring.kafka.producer.properties.max.block.ms=300");
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
    run("g", Listener.class);
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
    run("g", store, Listener.class);
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
    run("zone-a", storeOfA, Listener.class);
    FaultyStore storeOfB = store();
    run("zone-b", storeOfB, Listener.class);
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
    run("zone-a", Listener.class);
    eventually(() -> desk.calls.get() == 1);
    FaultyStore other = store();
    run("zone-b", other, Listener.class);
    eventually(() -> other.calls(FaultyStore.Op.CLAIM) >= 2);
    assertThat(committed("zone-b")).isZero();

    go.countDown();
    awaitCommitted("zone-b", 1);
    awaitCommitted("zone-a", 1);

    assertThat(desk.done).containsExactly("v0");
  }

  @Test
  void stopInTheMiddle_losesNothing_andAnotherGoesOn() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    desk.work.set(value -> never.await());
    sendAllTwice(5);
    ConfigurableApplicationContext stopped =
        run("g", Listener.class, "spring.lifecycle.timeout-per-shutdown-phase=1s");
    eventually(() -> desk.calls.get() > 0);

    stopped.close();
    assertThat(committed("g")).isZero();
    desk.work.set(value -> {});
    run("g", Listener.class);
    awaitCommitted("g", 10);

    assertThat(desk.done).hasSize(5).containsExactlyInAnyOrderElementsOf(values(5));
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
    run("g", Listener.class);
    eventually(() -> desk.calls.get() > 0);
    run("g", Listener.class);
    joined.countDown();
    awaitCommitted("g", 40);

    assertThat(desk.done).hasSize(20).containsExactlyInAnyOrderElementsOf(values(20));
  }

  @Test
  void acknowledgementOfAListenerThatFails_isHeldBack_andADuplicateIsAcknowledgedForIt()
      throws Exception {
    BROKER.createTopic(topic + ".dlt", DLT_PARTITIONS);
    CountDownLatch seen = new CountDownLatch(1);
    AtomicInteger failures = new AtomicInteger();
    desk.work.set(
        value -> {
          if (failures.getAndIncrement() == 0) {
            seen.await();
            throw new IllegalStateException("once");
          }
        });
    send("id-0", "v0");
    producer.flush();
    run("g", Acknowledging.class, "spring.kafka.listener.ack-mode=manual_immediate");
    eventually(() -> failures.get() == 1);
    assertThat(committed("g")).isZero();
    seen.countDown();
    awaitCommitted("g", 1);
    assertThat(desk.done).containsExactly("v0");

    send("id-0", "v0");
    producer.flush();
    awaitCommitted("g", 2);
    assertThat(desk.calls).hasValue(2);
  }
}
