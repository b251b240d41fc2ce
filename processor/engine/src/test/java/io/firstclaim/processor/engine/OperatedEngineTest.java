package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.testing.LocalKafka;
import io.firstclaim.processor.handler.HandlerResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/** What an operator does to the engines of two zones, through their door, with a real broker. */
class OperatedEngineTest {
  private static final int RECORDS = 20;
  private static final RedriveId REDRIVE = new RedriveId("redrive-1");

  private final String topic = LocalKafka.newName();
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final MemoryClaimStore operator =
      new MemoryClaimStore(claims, ClaimSettings.of(topic, "operator"), TimeSource.system());
  private final AtomicBoolean mended = new AtomicBoolean();
  private final Map<String, AtomicInteger> completions = new ConcurrentHashMap<>();
  private final List<Long> times = new CopyOnWriteArrayList<>();

  private Engine engine(String zone) {
    return Engine.builder()
        .application(topic)
        .zone(zone)
        .zones(List.of("a", "b"))
        .topics(topic)
        .recordId("offset")
        .bootstrapServers(LocalKafka.bootstrapServers())
        .store(settings -> new MemoryClaimStore(claims, settings, TimeSource.system()))
        .waitingHandler(
            record -> {
              times.add(record.record().timestamp());
              if (!mended.get()) {
                return new HandlerResult.Failed("a bug");
              }
              completions
                  .computeIfAbsent(record.id().text(), _ -> new AtomicInteger())
                  .incrementAndGet();
              return HandlerResult.done();
            })
        .build();
  }

  private static Producer<byte[], byte[]> producer() {
    return new KafkaProducer<>(
        Map.of("bootstrap.servers", LocalKafka.bootstrapServers()),
        new ByteArraySerializer(),
        new ByteArraySerializer());
  }

  private List<DeadLetter> letters(int expected) {
    List<ConsumerRecord<byte[], byte[]>> read = new ArrayList<>();
    try (var consumer =
        new KafkaConsumer<>(
            Map.<String, Object>of("bootstrap.servers", LocalKafka.bootstrapServers()),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(topic + ".dlt").stream()
              .map(each -> new TopicPartition(each.topic(), each.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      eventually(
          () -> {
            consumer.poll(Duration.ofMillis(200)).forEach(read::add);
            return read.size() >= expected;
          });
    }
    return read.stream().map(letter -> DeadLetter.read(letter).orElseThrow()).toList();
  }

  private static EngineState.Running running(Engine engine) {
    return (EngineState.Running) engine.state();
  }

  @Test
  void deadRecordsOfTwoZones_areRedriven_andEachIsCompletedOnceMore_thoughPublishedTwice()
      throws Exception {
    try (Producer<byte[], byte[]> producer = producer()) {
      LocalKafka.createTopic(topic, 2);
      Engine a = engine("a");
      Engine b = engine("b");
      a.start();
      b.start();
      for (int i = 0; i < RECORDS; i++) {
        Object _ =
            producer.send(new ProducerRecord<>(topic, i % 2, null, "{}".getBytes(UTF_8))).get();
      }
      List<DeadLetter> letters = letters(RECORDS);
      eventually(() -> running(a).watermarkLag() == 0 && running(b).watermarkLag() == 0);
      assertThat(letters).hasSize(RECORDS).allMatch(letter -> letter.isOf(settings()));

      mended.set(true);
      for (int round = 0; round < 2; round++) {
        for (DeadLetter letter : letters) {
          RedriveResult answer = operator.redrive(letter.id(), letter.payload(), REDRIVE);
          assertThat(answer)
              .isInstanceOfAny(RedriveResult.Freed.class, RedriveResult.FreedBefore.class);
          Object _ = producer.send(letter.again(topic, REDRIVE)).get();
        }
      }
      eventually(() -> completions.size() == RECORDS);
      eventually(() -> running(a).watermarkLag() == 0 && running(b).watermarkLag() == 0);

      assertThat(completions.values()).allMatch(times -> times.get() == 1);
      assertThat(letters)
          .allMatch(
              letter ->
                  operator.find(letter.id()).orElseThrow().state() instanceof ClaimState.Done);
      assertThat(letters(RECORDS)).hasSize(RECORDS);
      a.stop();
      b.stop();
    }
  }

  @Test
  void recordRedrivenTwice_hasItsOwnTimeInItsHandler_andKafkaHasThatOfWriting() throws Exception {
    try (Producer<byte[], byte[]> producer = producer()) {
      LocalKafka.createTopic(topic, 1);
      Engine a = engine("a");
      a.start();
      long now = System.currentTimeMillis();
      long time = now - Duration.ofDays(3).toMillis();
      Object _ =
          producer.send(new ProducerRecord<>(topic, 0, time, null, "{}".getBytes(UTF_8))).get();
      for (int i = 1; i <= 2; i++) {
        DeadLetter letter = letters(i).getLast();
        assertThat(letter.letter().timestamp())
            .as("by which the topic's retention goes")
            .isGreaterThan(time + Duration.ofDays(1).toMillis());
        assertThat(letter.timestamp()).hasValue(time);
        mended.set(i == 2);
        RedriveId by = new RedriveId("redrive-" + i);
        // The letter is written before the claim says so.
        eventually(
            () -> operator.find(letter.id()).orElseThrow().state() instanceof ClaimState.Dead);
        assertThat(operator.redrive(letter.id(), letter.payload(), by))
            .isInstanceOf(RedriveResult.Freed.class);
        Object _ = producer.send(letter.again(topic, by)).get();
      }
      eventually(() -> completions.size() == 1);

      assertThat(times).containsExactly(time, time, time);
      a.stop();
    }
  }

  private EngineSettings settings() {
    return Engine.builder()
        .application(topic)
        .zone("a")
        .topics(topic)
        .recordId("offset")
        .bootstrapServers(LocalKafka.bootstrapServers())
        .settings();
  }

  private static void awaitPolls(Engine engine, int count) {
    for (int i = 0; i < count; i++) {
      Moment last = running(engine).lastPoll();
      eventually(() -> running(engine).lastPoll().since(last).isPositive());
    }
  }

  @Test
  void pausedEngine_takesNothing_untilItIsResumed() throws Exception {
    try (Producer<byte[], byte[]> producer = producer()) {
      LocalKafka.createTopic(topic, 1);
      mended.set(true);
      Engine a = engine("a");
      assertThatThrownBy(() -> a.pause("too early")).isInstanceOf(IllegalStateException.class);
      a.start();
      a.pause("maintenance\nof the sink");
      assertThat(running(a).paused()).contains("maintenance of the sink");
      awaitPolls(a, 2); // the first may have been under way
      Object _ = producer.send(new ProducerRecord<>(topic, new byte[] {1})).get();
      awaitPolls(a, 5);
      assertThat(completions).isEmpty();

      a.resume();
      eventually(() -> completions.size() == 1);
      assertThat(running(a).paused()).isEmpty();
      assertThat(a.held(10, null).next()).isEmpty();
      a.stop();
      assertThatThrownBy(() -> a.held(10, null)).isInstanceOf(IllegalStateException.class);
    }
  }
}
