package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.Mode;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.RecordPosition;
import io.firstclaim.processor.engine.api.ShadowFinding;
import io.firstclaim.processor.engine.api.ShadowReport;
import io.firstclaim.processor.engine.api.ShadowSample;
import io.firstclaim.processor.engine.testing.LocalKafka;
import io.firstclaim.processor.handler.HandlerResult;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Shadow mode on a real broker: who runs it sees what would be skipped, and changes nothing. */
class ShadowEngineTest {
  /** Not so long ago that the broker would delete the records, as it does within minutes. */
  private final Instant start =
      Instant.now().minus(Duration.ofDays(1)).truncatedTo(ChronoUnit.MILLIS);

  private static final int EVENTS = 40;

  private final String topic = LocalKafka.newName();
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final Queue<ShadowFinding> heard = new ConcurrentLinkedQueue<>();
  private final List<Engine> engines = new ArrayList<>();
  private final Producer<byte[], byte[]> producer =
      new KafkaProducer<>(
          Map.of("bootstrap.servers", LocalKafka.bootstrapServers()),
          new ByteArraySerializer(),
          new ByteArraySerializer());

  @BeforeEach
  void createTopic() {
    LocalKafka.createTopic(topic, 2);
  }

  @AfterEach
  void stop() throws InterruptedException {
    producer.close();
    for (Engine engine : engines) {
      engine.stop();
    }
  }

  private EngineBuilder zone(String zone) {
    return Engine.builder()
        .application(topic)
        .zone(zone)
        .topics(topic)
        .recordId("key")
        .bootstrapServers(LocalKafka.bootstrapServers())
        .store(settings -> new MemoryClaimStore(claims, settings, TimeSource.system()));
  }

  private Engine shadow(String zone) throws InterruptedException {
    return start(
        zone(zone)
            .mode(Mode.SHADOW)
            .listener(
                new EngineListener() {
                  @Override
                  public void found(ShadowFinding finding) {
                    heard.add(finding);
                  }
                }));
  }

  private Engine start(EngineBuilder builder) throws InterruptedException {
    Engine engine = builder.build();
    engines.add(engine);
    engine.start();
    return engine;
  }

  @SuppressWarnings("NullAway") // a record's key may be null
  private RecordPosition publish(@Nullable String key, String value, Duration after)
      throws Exception {
    RecordMetadata sent =
        producer
            .send(
                new ProducerRecord<>(
                    topic,
                    null,
                    start.plus(after).toEpochMilli(),
                    key == null ? null : key.getBytes(UTF_8),
                    value.getBytes(UTF_8)))
            .get();
    return new RecordPosition(topic, sent.partition(), sent.offset(), start.plus(after));
  }

  private static ShadowReport report(Engine engine) {
    return engine.shadow().orElseThrow();
  }

  private static long of(Engine engine, ShadowFinding... findings) {
    Map<ShadowFinding, Long> counts = report(engine).counts();
    return List.of(findings).stream().mapToLong(counts::get).sum();
  }

  private static boolean hasAllSamples(Engine engine) {
    ShadowReport report = report(engine);
    return report.samples().size() == 4 && report.longestLag().equals(Duration.ofHours(5));
  }

  private static List<ShadowSample> samples(Engine engine, ShadowFinding finding) {
    return report(engine).samples().stream().filter(it -> it.finding() == finding).toList();
  }

  private static long deliveries(Engine engine) {
    return of(engine, ShadowFinding.values());
  }

  @Test
  void eachZone_tellsAllOfTheTopic_andSkipsNothing() throws Exception {
    Engine a = shadow("a");
    Engine b = shadow("b");
    List<RecordPosition> first = new ArrayList<>();
    for (int i = 0; i < EVENTS; i++) {
      first.add(publish("event-" + i, "payload " + i, Duration.ZERO));
    }
    eventually(() -> deliveries(a) == EVENTS && deliveries(b) == EVENTS);

    RecordPosition again = publish("event-1", "payload 1", Duration.ofHours(5));
    RecordPosition onceMore = publish("event-2", "payload 2", Duration.ofMinutes(1));
    RecordPosition other = publish("event-3", "payload of another event", Duration.ZERO);
    RecordPosition nameless = publish(null, "no ID", Duration.ZERO);
    eventually(() -> deliveries(a) == EVENTS + 4 && deliveries(b) == EVENTS + 4);
    eventually(() -> heard.size() == 2 * (EVENTS + 4)); // told of after it is counted
    eventually(() -> hasAllSamples(a) && hasAllSamples(b));

    for (Engine zone : List.of(a, b)) {
      assertThat(of(zone, ShadowFinding.FIRST, ShadowFinding.OTHER_ZONE)).isEqualTo(EVENTS);
      assertThat(of(zone, ShadowFinding.REDELIVERED)).isZero();
      assertThat(of(zone, ShadowFinding.DUPLICATE)).isEqualTo(2);
      assertThat(of(zone, ShadowFinding.MISMATCH)).isOne();
      assertThat(of(zone, ShadowFinding.NO_ID)).isOne();
      assertThat(report(zone).longestLag()).isEqualTo(Duration.ofHours(5));
      assertThat(samples(zone, ShadowFinding.DUPLICATE))
          .extracting(ShadowSample::id, ShadowSample::at, ShadowSample::first)
          .containsExactlyInAnyOrder(
              tuple("event-1", again, first.get(1)), tuple("event-2", onceMore, first.get(2)));
      ShadowSample mismatch = samples(zone, ShadowFinding.MISMATCH).getFirst();
      assertThat(mismatch.id()).isEqualTo("event-3");
      assertThat(mismatch.at()).isEqualTo(other);
      assertThat(mismatch.first()).isEqualTo(first.get(3));
      assertThat(mismatch.by()).matches("[ab]/.+");
      ShadowSample noId = samples(zone, ShadowFinding.NO_ID).getFirst();
      assertThat(noId.at()).isEqualTo(nameless);
      assertThat(noId.cause()).startsWith("the record has no ID");
    }
    assertThat(of(a, ShadowFinding.FIRST) + of(b, ShadowFinding.FIRST)).isEqualTo(EVENTS);
    assertThat(heard).hasSize(2 * (EVENTS + 4));
    eventually(() -> running(a).watermarkLag() == 0 && running(b).watermarkLag() == 0);
  }

  private static EngineState.Running running(Engine engine) {
    return (EngineState.Running) engine.state();
  }

  @Test
  void recordsThatOneZoneGetsAgain_areToldFromDuplicates() throws Exception {
    publish("event-1", "payload 1", Duration.ZERO);
    publish("event-2", "payload 2", Duration.ZERO);
    Engine before = shadow("a");
    eventually(() -> deliveries(before) == 2);

    Engine again = start(zone("a").mode(Mode.SHADOW).group(topic + "-rewound"));
    eventually(() -> deliveries(again) == 2);

    assertThat(of(again, ShadowFinding.REDELIVERED)).isEqualTo(2);
    assertThat(report(again).samples()).isEmpty();
  }

  @Test
  void manyOfOneId_inOnePoll_areEachToldApart_andSamplesAreBounded() throws Exception {
    for (int i = 0; i < 30; i++) {
      publish("entity", "the same", Duration.ofSeconds(i));
      publish("entity", "state " + i, Duration.ofSeconds(i));
    }
    Engine a = shadow("a");

    eventually(() -> deliveries(a) == 60);

    assertThat(of(a, ShadowFinding.FIRST)).isOne();
    assertThat(of(a, ShadowFinding.DUPLICATE) + of(a, ShadowFinding.MISMATCH)).isEqualTo(59);
    assertThat(samples(a, ShadowFinding.MISMATCH)).hasSize(20);
    assertThat(samples(a, ShadowFinding.MISMATCH)).allMatch(sample -> sample.first() != null);
  }

  @Test
  void besideTheApplicationInForce_nothingOfItsIsTouched() throws Exception {
    Queue<String> handled = new ConcurrentLinkedQueue<>();
    Engine inForce =
        start(
            zone("a")
                .handler(
                    record -> {
                      handled.add(record.id().text());
                      return HandlerResult.done();
                    }));
    Engine shadow =
        start(
            Engine.builder(inForceSettings())
                .mode(Mode.SHADOW)
                .store(settings -> new MemoryClaimStore(claims, settings, TimeSource.system()))
                .handler(
                    _ -> {
                      throw new IllegalStateException("shadow mode calls no handler");
                    }));

    for (int i = 0; i < EVENTS; i++) {
      publish("event-" + i, "payload " + i, Duration.ZERO);
    }

    eventually(() -> handled.size() == EVENTS && of(shadow, ShadowFinding.FIRST) == EVENTS);
    assertThat(inForce.shadow()).isEmpty();
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", LocalKafka.bootstrapServers()))) {
      eventually(() -> committed(admin, topic + "-a-shadow") == EVENTS);
      eventually(() -> committed(admin, topic + "-a") == EVENTS);
      assertThat(admin.listTopics().names().get())
          .contains(topic + ".outcomes-shadow")
          .doesNotContain(topic + ".dlt-shadow");
    }
  }

  private EngineSettings inForceSettings() {
    return zone("a").settings();
  }

  @Test
  void recordsWithoutAnId_leaveNoDeadLetter() throws Exception {
    publish(null, "no ID", Duration.ZERO);
    Engine a = shadow("a");

    eventually(() -> of(a, ShadowFinding.NO_ID) == 1);
    eventually(() -> running(a).watermarkLag() == 0);

    try (Admin admin = Admin.create(Map.of("bootstrap.servers", LocalKafka.bootstrapServers()))) {
      assertThat(admin.listTopics().names().get()).doesNotContain(topic + ".dlt");
    }
  }

  private long committed(Admin admin, String group) throws Exception {
    return IntStream.range(0, 2)
        .mapToLong(
            partition -> {
              try {
                var offset =
                    admin
                        .listConsumerGroupOffsets(group)
                        .partitionsToOffsetAndMetadata()
                        .get()
                        .get(new TopicPartition(topic, partition));
                return offset == null ? 0 : offset.offset();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            })
        .sum();
  }
}
