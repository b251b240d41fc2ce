package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.testing.LocalKafka;
import io.firstclaim.processor.handler.HandlerResult;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An input topic that is deleted, and another made under its name. */
class TopicMadeAnewTest {
  private static final int OLD = 100;
  private static final int NEW = 300;

  private final String topic = LocalKafka.newName();
  private final TopicPartition partition = new TopicPartition(topic, 0);
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final Queue<String> handled = new ConcurrentLinkedQueue<>();
  private final AtomicInteger claimed = new AtomicInteger();
  private final CountDownLatch lastOld = new CountDownLatch(1);
  private final CountDownLatch someNew = new CountDownLatch(1);
  private final Admin admin =
      Admin.create(Map.of("bootstrap.servers", LocalKafka.bootstrapServers()));

  private @Nullable Engine engine;

  @AfterEach
  void close() throws InterruptedException {
    lastOld.countDown();
    someNew.countDown();
    if (engine != null) {
      engine.stop();
    }
    admin.close();
  }

  private Engine start(String protocol, String sources) throws InterruptedException {
    Engine started =
        Engine.builder()
            .application(topic)
            .zone("a")
            .topics(topic)
            .recordId(sources)
            .bootstrapServers(LocalKafka.bootstrapServers())
            .shutdownGrace(Duration.ofMillis(100))
            .backoff(Duration.ofHours(1), Duration.ofHours(1))
            .listener(
                new EngineListener() {
                  @Override
                  public void claimed(Claimed result) {
                    claimed.incrementAndGet();
                  }
                })
            .kafka("group.protocol", protocol)
            .store(settings -> new MemoryClaimStore(claims, settings, TimeSource.system()))
            .handler(
                context -> {
                  String key = new String(context.record().key(), UTF_8);
                  if (key.startsWith("waits-")) {
                    return HandlerResult.retry("not yet");
                  } else if (key.equals("old-" + (OLD - 1))) {
                    lastOld.await();
                  } else if (key.equals("new-5")) {
                    someNew.await();
                  }
                  handled.add(key);
                  return HandlerResult.done();
                })
            .build();
    engine = started;
    started.start();
    return started;
  }

  private void publish(String prefix, int count) {
    publish(
        names(prefix, count).stream()
            .map(name -> name.getBytes(UTF_8))
            .map(key -> new ProducerRecord<>(topic, key, key)));
  }

  private void publishWithoutKey(int count) {
    publish(
        Stream.generate(() -> new ProducerRecord<byte[], byte[]>(topic, new byte[1])).limit(count));
  }

  private static void publish(Stream<ProducerRecord<byte[], byte[]>> records) {
    try (Producer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", LocalKafka.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      records.forEach(producer::send);
    }
  }

  private long deadLetters() throws Exception {
    TopicPartition letters = new TopicPartition(topic + ".dlt", 0);
    return admin
        .listOffsets(Map.of(letters, OffsetSpec.latest()))
        .partitionResult(letters)
        .get()
        .offset();
  }

  private @Nullable OffsetAndMetadata committed() throws Exception {
    String group = topic + "-a";
    return admin
        .listConsumerGroupOffsets(group)
        .partitionsToOffsetAndMetadata()
        .get()
        .get(partition);
  }

  private long committedOffset() throws Exception {
    OffsetAndMetadata offset = committed();
    return offset == null ? -1 : offset.offset();
  }

  private void makeAnew() throws Exception {
    replace();
    publish("new-", NEW);
  }

  private void replace() throws Exception {
    Object _ = admin.deleteTopics(List.of(topic)).all().get();
    eventually(() -> !admin.listTopics().names().get().contains(topic));
    LocalKafka.createTopic(topic, 1);
  }

  private static List<String> names(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
  }

  private static long lag(Engine of) {
    return ((EngineState.Running) of.state()).watermarkLag();
  }

  @ParameterizedTest
  @ValueSource(strings = {"classic", "consumer"})
  void topicMadeAnew_isReadFromItsBeginning_andNothingOfTheOldOneCommitsOnIt(String protocol)
      throws Exception {
    LocalKafka.createTopic(topic, 1);
    publish("old-", OLD);
    Engine running = start(protocol, "key");
    eventually(() -> handled.size() == OLD - 1);
    eventually(() -> committedOffset() == OLD - 1);

    running.pause("maintenance"); // so that the new topic is longer than the old one at once
    makeAnew();
    running.resume();
    eventually(() -> handled.size() == OLD - 1 + NEW - 1);
    eventually(() -> committedOffset() == 5);
    lastOld.countDown();
    eventually(() -> handled.contains("old-" + (OLD - 1)));
    eventually(() -> lag(running) == NEW - 5); // which is read beside each commit
    running.stop();

    assertThat(committedOffset()).isEqualTo(5);
    assertThat(handled)
        .doesNotHaveDuplicates()
        .containsAll(names("old-", OLD))
        .hasSize(OLD + NEW - 1);

    someNew.countDown();
    Engine later = start(protocol, "key");
    eventually(() -> handled.contains("new-5"));
    eventually(() -> lag(later) == 0 && committedOffset() == NEW);
    assertThat(handled).doesNotHaveDuplicates().containsAll(names("new-", NEW));
  }

  @ParameterizedTest
  @ValueSource(strings = {"classic", "consumer"})
  void topicMadeAnewWhileNobodyRan_isReadFromItsBeginning_thoughKafkaKeptTheOffsets(String protocol)
      throws Exception {
    lastOld.countDown();
    someNew.countDown();
    LocalKafka.createTopic(topic, 1);
    publish("old-", OLD);
    Engine before = start(protocol, "key");
    eventually(() -> committedOffset() == OLD);
    before.stop();
    OffsetAndMetadata ofTheOld = committed();

    makeAnew();
    // Kafka forgets them, some time; a commit under way then brings them back.
    eventually(() -> committed() == null);
    Object _ =
        admin.alterConsumerGroupOffsets(topic + "-a", Map.of(partition, ofTheOld)).all().get();
    Engine after = start(protocol, "key");

    eventually(() -> handled.size() == OLD + NEW);
    eventually(() -> committedOffset() == NEW && lag(after) == 0);
    after.stop();
    Engine onceMore = start(protocol, "key");
    publish("more-", 1);
    eventually(() -> handled.contains("more-0"));
    assertThat(lag(onceMore)).isLessThanOrEqualTo(1);
    assertThat(handled).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @ValueSource(strings = {"classic", "consumer"})
  void recordsNamedAfterTheirPlace_areOthers_whenTheirTopicIsMadeAnew(String protocol)
      throws Exception {
    lastOld.countDown();
    someNew.countDown();
    LocalKafka.createTopic(topic, 1);
    publish("old-", OLD);
    Engine running = start(protocol, "offset");
    eventually(() -> committedOffset() == OLD);

    running.pause("maintenance");
    makeAnew();
    running.resume();

    eventually(() -> handled.containsAll(names("new-", NEW)));
    eventually(() -> committedOffset() == NEW);
  }

  @ParameterizedTest
  @ValueSource(strings = {"classic", "consumer"})
  void recordsWithoutAnId_areOthers_whenTheirTopicIsMadeAnew_andEachHasItsDeadLetter(
      String protocol) throws Exception {
    LocalKafka.createTopic(topic, 1);
    publishWithoutKey(3);
    Engine before = start(protocol, "key");
    eventually(() -> committedOffset() == 3);
    before.stop();
    assertThat(deadLetters()).isEqualTo(3);

    replace();
    publishWithoutKey(5);
    Engine _ = start(protocol, "key");

    eventually(() -> committedOffset() == 5);
    assertThat(deadLetters()).isEqualTo(3 + 5);
  }

  @ParameterizedTest
  @ValueSource(strings = {"classic", "consumer"})
  void recordsOfTheOldTopicThatWait_areLeftAtTheStop_andAskTheStoreNoMore(String protocol)
      throws Exception {
    someNew.countDown();
    LocalKafka.createTopic(topic, 1);
    publish("waits-", 3);
    Engine running = start(protocol, "key");
    eventually(() -> parked(running) == 3);
    running.pause("maintenance");
    makeAnew();
    running.resume();
    eventually(() -> handled.size() == NEW);
    eventually(() -> ((EngineState.Running) running.state()).inFlight() == 0);
    int before = claimed.get();

    running.stop();

    assertThat(claimed).hasValue(before);
    assertThat(running.state()).isInstanceOf(EngineState.Ended.class);
  }

  private static int parked(Engine of) {
    return ((EngineState.Running) of.state()).parked();
  }
}
