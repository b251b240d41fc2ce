package io.firstclaim.processor.service.handler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.OneLine;
import io.firstclaim.processor.handler.HandlerResult;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Scope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TopicHandlerTest {
  private static final Duration LONG = Duration.ofMinutes(2);

  private static MockProducer<byte[], byte[]> producer(boolean acknowledging) {
    return new MockProducer<>(
        acknowledging, null, new ByteArraySerializer(), new ByteArraySerializer());
  }

  private static TopicProducer only(Producer<byte[], byte[]> producer) {
    return new TopicProducer(() -> producer);
  }

  @Test
  void valueKeyAndHeaders_arePublishedUntouched() throws Exception {
    RecordHeaders headers = new RecordHeaders();
    headers.add("ce_id", new byte[] {(byte) 0xff, 0});
    headers.add("ce_id", null);
    TestContext context = TestContext.of("value".getBytes(UTF_8), headers);
    try (MockProducer<byte[], byte[]> producer = producer(true)) {
      HandlerResult result = new TopicHandler(only(producer), "out", LONG).handle(context);

      assertThat(result).isEqualTo(HandlerResult.done());
      ProducerRecord<byte[], byte[]> published = producer.history().getFirst();
      assertThat(published.topic()).isEqualTo("out");
      assertThat(published.value()).isEqualTo("value".getBytes(UTF_8));
      assertThat(published.key()).isEqualTo("the key".getBytes(UTF_8));
      assertThat(published.headers().toArray()).isEqualTo(headers.toArray());
    }
  }

  @Test
  void timeOfTheRecord_isPublished_unlessTheTopicTakesNoSuchTime() throws Exception {
    TestContext context = TestContext.of("value");
    try (MockProducer<byte[], byte[]> producer =
        new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer()) {
          @Override
          public synchronized Future<RecordMetadata> send(
              ProducerRecord<byte[], byte[]> record, Callback callback) {
            Future<RecordMetadata> sent = super.send(record, callback);
            return history().size() == 2
                ? CompletableFuture.failedFuture(new InvalidTimestampException("out of range"))
                : sent;
          }
        }) {
      TopicHandler handler = new TopicHandler(only(producer), "out", LONG);

      assertThat(handler.handle(context)).isEqualTo(HandlerResult.done());
      assertThat(handler.handle(context)).isEqualTo(HandlerResult.done());

      assertThat(producer.history())
          .extracting(ProducerRecord::timestamp)
          .containsExactly(context.record().timestamp(), context.record().timestamp(), null);
    }
  }

  @Test
  void tracedRecord_isPublishedWithItsTrace_insteadOfItsProducers() throws Exception {
    RecordHeaders headers = new RecordHeaders();
    headers.add("traceparent", "the producer's".getBytes(UTF_8));
    headers.add("ce_id", "7".getBytes(UTF_8));
    TestContext context = TestContext.of("value".getBytes(UTF_8), headers);
    try (MockProducer<byte[], byte[]> producer = producer(true);
        Scope _ = TestContext.traced().makeCurrent()) {
      TopicHandler handler =
          new TopicHandler(only(producer), "out", LONG, W3CTraceContextPropagator.getInstance());

      assertThat(handler.handle(context)).isEqualTo(HandlerResult.done());

      Headers published = producer.history().getFirst().headers();
      assertThat(published.headers("traceparent"))
          .extracting(header -> new String(header.value(), UTF_8))
          .containsExactly(TestContext.TRACEPARENT);
      assertThat(published).extracting(Header::key).containsExactly("ce_id", "traceparent");
      assertThat(headers.lastHeader("traceparent").value())
          .as("the record's own, which a dead letter would have")
          .isEqualTo("the producer's".getBytes(UTF_8));
    }
  }

  @Test
  void nullValue_isPublished() throws Exception {
    try (MockProducer<byte[], byte[]> producer = producer(true)) {
      assertThat(
              new TopicHandler(only(producer), "out", LONG).handle(TestContext.of((byte[]) null)))
          .isEqualTo(HandlerResult.done());
      assertThat(producer.history().getFirst().value()).isNull();
    }
  }

  @Test
  void noAcknowledgementInTime_isNoFailureOfTheRecord() throws Exception {
    try (MockProducer<byte[], byte[]> producer = producer(false)) {
      assertThat(
              new TopicHandler(only(producer), "out", Duration.ofMillis(50))
                  .handle(TestContext.of("x")))
          .isEqualTo(
              HandlerResult.unavailable(
                  "no acknowledgement from topic out within PT0.05S", Duration.ZERO));
    }
  }

  static Stream<RuntimeException> ofAll() {
    return Stream.of(
        new NotEnoughReplicasException("one of two"),
        new org.apache.kafka.common.errors.TimeoutException("not in metadata"),
        new UnknownTopicOrPartitionException("gone"),
        new TopicAuthorizationException("out"),
        new SaslAuthenticationException("password"));
  }

  static Stream<RuntimeException> permanent() {
    return Stream.of(
        new RecordTooLargeException("2 MB"),
        new InvalidTopicException("a b"),
        new InvalidRecordException("no key"),
        new InvalidTimestampException("next year"),
        new SerializationException("cannot"));
  }

  /** What is the fault of neither record nor producer. */
  static Stream<RuntimeException> unforeseen() {
    return Stream.of(
        new UnknownServerException("who knows"),
        new PolicyViolationException("not on Sundays"),
        new ApiException("new in Kafka 5"));
  }

  static Stream<RuntimeException> ofTheProducer() {
    return Stream.of(
        new OutOfOrderSequenceException("7 after 5"),
        new UnknownProducerIdException("never heard of"),
        new InvalidProducerEpochException("an old one"),
        new ProducerFencedException("another one"),
        new KafkaException("Cannot execute transactional method: we are in an error state"));
  }

  @ParameterizedTest
  @MethodSource("ofAll")
  void faultThatAllRecordsWouldHave_isNoFailureOfTheRecord(RuntimeException fault)
      throws Exception {
    assertThat(afterRejection(fault))
        .isEqualTo(
            HandlerResult.unavailable("topic out: " + OneLine.of(fault.toString()), Duration.ZERO));
    assertThat(afterThrowing(fault)).isInstanceOf(HandlerResult.Unavailable.class);
  }

  @ParameterizedTest
  @MethodSource("unforeseen")
  void unforeseenFault_isTriedAgain(RuntimeException fault) throws Exception {
    assertThat(afterRejection(fault))
        .isEqualTo(HandlerResult.retry("topic out: " + OneLine.of(fault.toString())));
    assertThat(afterThrowing(fault)).isInstanceOf(HandlerResult.Retry.class);
  }

  @ParameterizedTest
  @MethodSource("ofTheProducer")
  void unusableProducer_isReplaced_onceForAllThatItFailed(RuntimeException fault) throws Exception {
    List<MockProducer<byte[], byte[]>> made = new ArrayList<>();
    TopicProducer producers =
        new TopicProducer(
            () -> {
              made.add(made.isEmpty() ? new Rejecting(fault) : producer(true));
              return made.getLast();
            });
    TopicHandler handler = new TopicHandler(producers, "out", LONG);

    assertThat(handler.handle(TestContext.of("x")))
        .isEqualTo(HandlerResult.retry("topic out: " + OneLine.of(fault.toString())));
    producers.replace(made.getFirst()); // as another record does that it failed
    assertThat(handler.handle(TestContext.of("x"))).isEqualTo(HandlerResult.done());

    assertThat(made).hasSize(2);
    await("the old one is closed").atMost(Duration.ofMinutes(5)).until(made.getFirst()::closed);
    producers.close();
    assertThat(made.getLast().closed()).isTrue();
    producers.replace(made.getLast());
    assertThat(made).as("made after the end").hasSize(2);
  }

  @ParameterizedTest
  @MethodSource("permanent")
  void permanentFault_isFinal(RuntimeException fault) throws Exception {
    assertThat(afterRejection(fault))
        .isEqualTo(new HandlerResult.Failed("topic out: " + OneLine.of(fault.toString())));
    assertThat(afterThrowing(fault)).isInstanceOf(HandlerResult.Failed.class);
  }

  private static HandlerResult afterRejection(RuntimeException fault) throws Exception {
    try (Rejecting producer = new Rejecting(fault)) {
      return new TopicHandler(only(producer), "out", LONG).handle(TestContext.of("x"));
    }
  }

  private static HandlerResult afterThrowing(RuntimeException fault) throws Exception {
    try (MockProducer<byte[], byte[]> producer = producer(true)) {
      producer.sendException = fault;
      return new TopicHandler(only(producer), "out", LONG).handle(TestContext.of("x"));
    }
  }

  /** Acknowledges nothing: each send ends in the same fault. */
  private static final class Rejecting extends MockProducer<byte[], byte[]> {
    private final RuntimeException fault;

    Rejecting(RuntimeException fault) {
      super(false, null, new ByteArraySerializer(), new ByteArraySerializer());
      this.fault = fault;
    }

    @Override
    public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> published) {
      Future<RecordMetadata> result = super.send(published);
      errorNext(fault);
      return result;
    }
  }

  @Test
  void closedProducer_isTriedAgain() throws Exception {
    MockProducer<byte[], byte[]> producer = producer(true);
    producer.close();
    assertThat(new TopicHandler(only(producer), "out", LONG).handle(TestContext.of("x")))
        .isInstanceOf(HandlerResult.Retry.class);
  }

  @Test
  void interrupt_whileWaiting_isPassedOn() throws Exception {
    try (MockProducer<byte[], byte[]> producer = producer(false)) {
      TopicHandler handler = new TopicHandler(only(producer), "out", LONG);
      CompletableFuture<Throwable> thrown = new CompletableFuture<>();
      Thread thread =
          Thread.startVirtualThread(
              () -> {
                try {
                  handler.handle(TestContext.of("x"));
                  thrown.complete(new AssertionError("not interrupted"));
                } catch (InterruptedException e) {
                  thrown.complete(e);
                }
              });
      thread.interrupt();
      assertThat(thrown.get(5, TimeUnit.MINUTES)).isInstanceOf(InterruptedException.class);
    }
  }

  @Test
  void interrupt_inKafka_isPassedOn() {
    try (MockProducer<byte[], byte[]> producer = producer(true)) {
      producer.sendException = new InterruptException("while waiting for metadata");
      assertThat(Thread.interrupted()).isTrue(); // Kafka's InterruptException sets it
      assertThatThrownBy(
              () -> new TopicHandler(only(producer), "out", LONG).handle(TestContext.of("x")))
          .isInstanceOf(InterruptedException.class);
    }
  }

  @Test
  void lostLease_publishesNothing() {
    try (MockProducer<byte[], byte[]> producer = producer(true)) {
      assertThatThrownBy(
              () ->
                  new TopicHandler(only(producer), "out", LONG).handle(TestContext.of("x").lost()))
          .isInstanceOf(LeaseLostException.class);
      assertThat(producer.history()).isEmpty();
    }
  }

  @Test
  void leaseThatIsLost_whileTheTopicIsLookedUp_publishesNothing() {
    AtomicBoolean lost = new AtomicBoolean();
    TestContext context = TestContext.of("x").heldWhile(() -> !lost.get());
    try (MockProducer<byte[], byte[]> producer =
        new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer()) {
          @Override
          public List<PartitionInfo> partitionsFor(String topic) {
            lost.set(true);
            return List.of();
          }
        }) {
      TopicHandler handler = new TopicHandler(only(producer), "out", LONG);
      assertThatThrownBy(() -> handler.handle(context)).isInstanceOf(LeaseLostException.class);
      assertThat(producer.history()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " "})
  void blankTopic_isRefused(String topic) {
    try (MockProducer<byte[], byte[]> producer = producer(true)) {
      assertThatThrownBy(() -> new TopicHandler(only(producer), topic, LONG))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("'%s' is not a topic to publish to: name one", topic);
    }
  }
}
