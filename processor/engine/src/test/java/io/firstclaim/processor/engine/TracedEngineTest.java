package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.engine.testing.LocalKafka;
import io.firstclaim.processor.engine.testing.LogLines;
import io.firstclaim.processor.engine.testing.TestTime;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.MDC;

/** What an application's OpenTelemetry is told of its records: its real SDK, a real broker. */
@Isolated(LogLines.WHY_ALONE)
class TracedEngineTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PRODUCER = "b7ad6b7169203331";
  private static final byte[] TRACEPARENT =
      "00-%s-%s-01".formatted(TRACE, PRODUCER).getBytes(UTF_8);

  /** What is secret has letters that are in no number, nor in a span ID. */
  private static final byte[] VALUE = "{\"card\":\"Visa4111\"}".getBytes(UTF_8);

  private static Producer<byte[], byte[]> producer;

  private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
  private final OpenTelemetrySdk telemetry =
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                  .build())
          .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
          .build();
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final Queue<SpanContext> inHandler = new ConcurrentLinkedQueue<>();
  private final String topic = LocalKafka.newName();

  @BeforeAll
  static void openProducer() {
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", LocalKafka.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  @AfterAll
  static void closeProducer() {
    producer.close();
  }

  @BeforeEach
  void createTopic() {
    LocalKafka.createTopic(topic, 1);
  }

  @AfterEach
  void closeTelemetry() {
    telemetry.close();
  }

  private EngineBuilder builder(RecordHandler handler) {
    return Engine.builder()
        .application(topic)
        .zone("a")
        .topics(topic)
        .recordId("key")
        .bootstrapServers(LocalKafka.bootstrapServers())
        .backoff(Duration.ofMillis(10), Duration.ofMillis(10))
        .store(settings -> new MemoryClaimStore(claims, settings, TimeSource.system()))
        .openTelemetry(telemetry)
        .handler(
            record -> {
              inHandler.add(Span.current().getSpanContext());
              return handler.handle(record);
            });
  }

  private Engine engine(RecordHandler handler) {
    return builder(handler).build();
  }

  private static EngineState.Running running(Engine engine) {
    return (EngineState.Running) engine.state();
  }

  private void publish(String key, byte @Nullable [] traceparent) throws Exception {
    ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, key.getBytes(UTF_8), VALUE);
    if (traceparent != null) {
      record.headers().add("traceparent", traceparent);
    }
    Object _ = producer.send(record).get();
  }

  /** The attempts of which the engine has told, once there are so many; the oldest first. */
  private List<SpanData> attempts(int expected) {
    eventually(() -> named("process " + topic).size() >= expected);
    return named("process " + topic);
  }

  private List<SpanData> named(String name) {
    return exporter.getFinishedSpanItems().stream()
        .filter(span -> span.getName().equals(name))
        .sorted(Comparator.comparingLong(SpanData::getStartEpochNanos))
        .toList();
  }

  private List<SpanData> below(SpanData parent) {
    return exporter.getFinishedSpanItems().stream()
        .filter(span -> span.getParentSpanId().equals(parent.getSpanId()))
        .sorted(Comparator.comparingLong(SpanData::getStartEpochNanos))
        .toList();
  }

  private List<String> steps(SpanData attempt) {
    return below(attempt).stream().map(SpanData::getName).toList();
  }

  private static @Nullable String text(SpanData span, String attribute) {
    return span.getAttributes().get(AttributeKey.stringKey(attribute));
  }

  private static @Nullable Long number(SpanData span, String attribute) {
    return span.getAttributes().get(AttributeKey.longKey(attribute));
  }

  private static List<SpanContext> links(SpanData span) {
    return span.getLinks().stream().map(LinkData::getSpanContext).toList();
  }

  @Test
  void delivery_isOneTrace_fromItsProducerToItsHandlersThread() throws Exception {
    Queue<String> logged = new ConcurrentLinkedQueue<>();
    Engine engine =
        engine(
            _ -> {
              logged.add(MDC.get("trace_id"));
              return HandlerResult.done();
            });
    engine.start();
    publish("order-1", TRACEPARENT);

    SpanData attempt = attempts(1).getFirst();
    engine.stop();

    assertThat(attempt.getKind()).isEqualTo(SpanKind.CONSUMER);
    assertThat(attempt.getTraceId()).isEqualTo(TRACE);
    assertThat(attempt.getParentSpanId()).isEqualTo(PRODUCER);
    assertThat(attempt.getParentSpanContext().isRemote()).isTrue();
    assertThat(attempt.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    assertThat(text(attempt, "messaging.system")).isEqualTo("kafka");
    assertThat(text(attempt, "messaging.operation.type")).isEqualTo("process");
    assertThat(text(attempt, "messaging.destination.name")).isEqualTo(topic);
    assertThat(text(attempt, "messaging.destination.partition.id")).isEqualTo("0");
    assertThat(number(attempt, "messaging.kafka.offset")).isZero();
    assertThat(text(attempt, "messaging.consumer.group.name")).isEqualTo(topic + "-a");
    assertThat(text(attempt, "messaging.message.id")).isEqualTo("order-1");
    assertThat(text(attempt, "firstclaim.zone")).isEqualTo("a");
    assertThat(text(attempt, "firstclaim.outcome")).isEqualTo("COMPLETED");
    assertThat(number(attempt, "firstclaim.attempt")).isEqualTo(1);
    assertThat(steps(attempt)).containsExactly("wait", "claim", "handle", "settle");
    assertThat(below(attempt))
        .allMatch(step -> step.getTraceId().equals(TRACE))
        .allMatch(step -> step.getEndEpochNanos() <= attempt.getEndEpochNanos());
    assertThat(inHandler).containsExactly(below(attempt).get(2).getSpanContext());
    assertThat(logged).containsExactly(TRACE);
    assertThat(exporter.getFinishedSpanItems().toString()).doesNotContain("Visa4111");
  }

  @Test
  void retry_isLinkedToTheAttemptBefore_inTheProducersTrace() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    Engine engine =
        engine(
            _ ->
                calls.incrementAndGet() == 1
                    ? HandlerResult.retry("card Visa4111 declined")
                    : HandlerResult.done());
    engine.start();
    publish("order-1", TRACEPARENT);

    List<SpanData> attempts = attempts(2);
    engine.stop();

    SpanData first = attempts.getFirst();
    SpanData second = attempts.getLast();
    assertThat(attempts)
        .hasSize(2)
        .allMatch(attempt -> attempt.getParentSpanId().equals(PRODUCER))
        .extracting(attempt -> text(attempt, "firstclaim.outcome"))
        .containsExactly("FAILED", "COMPLETED");
    assertThat(links(first)).isEmpty();
    assertThat(links(second)).containsExactly(first.getSpanContext());
    assertThat(number(second, "firstclaim.attempt")).isEqualTo(2);
    assertThat(first.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(text(below(first).get(2), "firstclaim.result")).isEqualTo("RETRY");
    assertThat(below(second).getFirst().getEvents())
        .extracting(EventData::getName)
        .startsWith("RETRY");
    assertThat(exporter.getFinishedSpanItems().toString()).doesNotContain("Visa4111");
  }

  @Test
  void attemptsOfAnUntracedProducer_areOneTraceToo() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    Engine engine =
        engine(_ -> calls.incrementAndGet() < 3 ? HandlerResult.retry("x") : HandlerResult.done());
    engine.start();
    publish("order-1", null);

    List<SpanData> attempts = attempts(3);
    engine.stop();

    SpanData root = attempts.getFirst();
    assertThat(root.getParentSpanContext().isValid()).isFalse();
    assertThat(attempts.subList(1, 3))
        .allMatch(attempt -> attempt.getParentSpanId().equals(root.getSpanId()));
    assertThat(links(attempts.get(2))).containsExactly(attempts.get(1).getSpanContext());
  }

  @Test
  void redelivery_thatFollowsOneAtWork_isLinkedToIt() throws Exception {
    CountDownLatch mayEnd = new CountDownLatch(1);
    Engine engine =
        engine(
            _ -> {
              mayEnd.await();
              return HandlerResult.done();
            });
    engine.start();
    publish("order-1", TRACEPARENT);
    eventually(() -> !inHandler.isEmpty());
    long buffered = running(engine).bufferedBytes();
    publish("order-1", TRACEPARENT);
    eventually(
        () -> running(engine).watermarkLag() == 2 && running(engine).bufferedBytes() == buffered);
    mayEnd.countDown();

    List<SpanData> deliveries = attempts(2);
    engine.stop();

    SpanData first = deliveries.getFirst();
    SpanData again = deliveries.getLast();
    assertThat(text(first, "firstclaim.outcome")).isEqualTo("COMPLETED");
    assertThat(text(again, "firstclaim.outcome")).isEqualTo("DUPLICATE");
    assertThat(number(again, "messaging.kafka.offset")).isEqualTo(1);
    assertThat(links(again)).containsExactly(first.getSpanContext());
    assertThat(again.getParentSpanId()).isEqualTo(PRODUCER);
    assertThat(steps(again)).containsExactly("wait");
    assertThat(again.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
  }

  @Test
  void takeover_isInTheProducersTrace_andNamesTheHolderThatVanished() throws Exception {
    TestTime time = TestTime.running();
    Engine engine =
        builder(_ -> HandlerResult.done())
            .store(settings -> new MemoryClaimStore(claims, settings, time))
            .time(time)
            .withoutOutcomes() // so it asks again soon
            .build();
    engine.start();
    Duration lease = Duration.ofSeconds(30); // it has the record when that comes
    MemoryClaimStore vanished =
        new MemoryClaimStore(
            claims,
            new ClaimSettings(topic, "b/9", lease, ClaimSettings.LEAST_SKEW, Duration.ofDays(15)),
            time);
    assertThat(vanished.claim(Claim.of(RecordId.of("order-1"), Fingerprint.of(VALUE), time.now())))
        .isInstanceOf(ClaimResult.Granted.class);
    publish("order-1", TRACEPARENT);
    eventually(
        () ->
            engine.parked(10, null).items().stream()
                .anyMatch(each -> each.waitsFor() == WaitsFor.HOLDER));
    time.advance(lease.multipliedBy(2));

    SpanData attempt = attempts(1).getFirst();
    engine.stop();

    assertThat(attempt.getParentSpanId()).isEqualTo(PRODUCER);
    assertThat(text(attempt, "firstclaim.taken_over_from")).isEqualTo("b/9");
    assertThat(text(attempt, "firstclaim.outcome")).isEqualTo("COMPLETED");
    assertThat(steps(attempt))
        .startsWith("wait", "claim", "wait", "claim")
        .endsWith("claim", "handle", "settle");
    assertThat(below(attempt).stream().filter(step -> step.getName().equals("claim")))
        .extracting(claim -> text(claim, "firstclaim.claim"))
        .startsWith("HELD")
        .endsWith("GRANTED");
    assertThat(below(attempt).get(2).getEvents())
        .extracting(EventData::getName)
        .startsWith("HOLDER");
  }

  @Test
  void deadLetter_isTraced_andKeepsTheProducersHeader() throws Exception {
    Engine engine = engine(_ -> new HandlerResult.Failed("card Visa4111 is stolen"));
    engine.start();
    publish("order-1", TRACEPARENT);

    SpanData attempt = attempts(1).getFirst();
    ConsumerRecord<byte[], byte[]> letter = letter();
    engine.stop();

    assertThat(text(attempt, "firstclaim.outcome")).isEqualTo("DEAD");
    assertThat(attempt.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(steps(attempt)).containsExactly("wait", "claim", "handle", "dead-letter", "settle");
    assertThat(letter.headers().headers("traceparent"))
        .singleElement()
        .satisfies(header -> assertThat(header.value()).isEqualTo(TRACEPARENT));
    assertThat(exporter.getFinishedSpanItems().toString()).doesNotContain("Visa4111");
  }

  private ConsumerRecord<byte[], byte[]> letter() {
    List<ConsumerRecord<byte[], byte[]>> read = new ArrayList<>();
    try (var consumer =
        new KafkaConsumer<>(
            Map.<String, Object>of("bootstrap.servers", LocalKafka.bootstrapServers()),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> partitions = List.of(new TopicPartition(topic + ".dlt", 0));
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      eventually(
          () -> {
            consumer.poll(Duration.ofMillis(200)).forEach(read::add);
            return !read.isEmpty();
          });
    }
    return read.getFirst();
  }

  @Test
  void malformedTraceparent_isNoParent_andInNoLogLine() throws Exception {
    List<byte[]> malformed =
        Stream.of(
                "",
                "forged\r\n\u001b[2J",
                "00-%s-%s-01\n".formatted(TRACE, PRODUCER),
                "00-%s-%s-01".formatted("0".repeat(32), PRODUCER),
                "00-%s-%s-zz".formatted(TRACE, PRODUCER),
                "forged".repeat(10_000))
            .map(text -> text.getBytes(ISO_8859_1))
            .toList();
    Engine engine = engine(_ -> HandlerResult.done());
    try (LogLines log = new LogLines("io.firstclaim")) {
      engine.start();
      for (int i = 0; i < malformed.size(); i++) {
        publish("order-" + i, malformed.get(i));
      }
      List<SpanData> attempts = attempts(malformed.size());
      engine.stop();

      assertThat(attempts)
          .hasSize(malformed.size())
          .allMatch(attempt -> !attempt.getParentSpanContext().isValid())
          .noneMatch(attempt -> attempt.getTraceId().equals(TRACE))
          .allMatch(attempt -> "COMPLETED".equals(text(attempt, "firstclaim.outcome")));
      assertThat(Stream.of("INFO", "WARN", "ERROR").flatMap(level -> log.of(level).stream()))
          .isNotEmpty()
          .noneMatch(line -> line.contains("forged") || line.contains(TRACE));
    }
  }

  @Test
  void recordIdOfUnprintableBytes_isInTheTraceAsItsText() throws Exception {
    Engine engine = engine(_ -> HandlerResult.done());
    engine.start();
    publish("order\n1", TRACEPARENT);

    SpanData attempt = attempts(1).getFirst();
    engine.stop();

    assertThat(text(attempt, "messaging.message.id"))
        .isEqualTo(RecordId.of("order\n1").text())
        .doesNotContain("\n");
  }

  @Test
  void recordLeftToOthers_atTheStop_endsItsTrace() throws Exception {
    Engine engine =
        builder(_ -> HandlerResult.retry("not now"))
            .backoff(Duration.ofHours(1), Duration.ofHours(1))
            .build();
    engine.start();
    publish("order-1", TRACEPARENT);
    eventually(() -> !attempts(1).isEmpty() && engine.parked(10, null).items().size() == 1);

    engine.stop();

    assertThat(attempts(2))
        .extracting(attempt -> text(attempt, "firstclaim.outcome"))
        .containsExactly("FAILED", "LEFT");
  }

  @Test
  void untracedEngine_hasNoSpans_andNoTraceInItsLog() throws Exception {
    Queue<Boolean> logged = new ConcurrentLinkedQueue<>();
    Engine engine =
        Engine.builder()
            .application(topic)
            .zone("a")
            .topics(topic)
            .recordId("key")
            .bootstrapServers(LocalKafka.bootstrapServers())
            .store(settings -> new MemoryClaimStore(claims, settings, TimeSource.system()))
            .handler(
                _ -> {
                  inHandler.add(Span.current().getSpanContext());
                  logged.add(MDC.get("trace_id") != null);
                  return HandlerResult.done();
                })
            .build();
    engine.start();
    publish("order-1", TRACEPARENT);
    eventually(() -> !inHandler.isEmpty() && running(engine).watermarkLag() == 0);
    engine.stop();

    assertThat(inHandler).containsExactly(SpanContext.getInvalid());
    assertThat(logged).containsExactly(false);
  }
}
