package io.firstclaim.processor.engine.outcome;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class OutcomeWriterTest {
  private static final byte[] HOSTILE = {'a', 0, '\r', '\n', (byte) 0xff};
  private static final String STORE = "0123456789abcdef0123456789abcdef";
  private static final RecordId ID = RecordId.of(HOSTILE);
  private static final Fingerprint PAYLOAD = Fingerprint.of(new byte[] {1});
  private static final Outcome OUTCOME =
      new Outcome(
          ID.text(),
          Outcome.Kind.COMPLETED,
          "a",
          "1",
          1,
          1,
          "in",
          0,
          0,
          Instant.EPOCH,
          Duration.ZERO,
          null,
          null,
          List.of());

  private final MockProducer<byte[], byte[]> producer =
      new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer());
  private final AtomicInteger then = new AtomicInteger();

  private void publish(Optional<String> topic, Outcome outcome) {
    var _ =
        new OutcomeWriter(producer, topic, new Origin("store", "shop", STORE, "me"))
            .publish(outcome, ID, PAYLOAD)
            .thenRun(then::incrementAndGet);
  }

  private void publish() {
    publish(Optional.of("outcomes"), OUTCOME);
  }

  @Test
  void outcome_isPublishedUnderTheIdsOwnBytes_withHeadersThatSayWhoseItIs() {
    publish();

    ProducerRecord<byte[], byte[]> message = producer.history().getFirst();
    assertThat(message.topic()).isEqualTo("outcomes");
    assertThat(message.partition()).isNull();
    assertThat(message.key()).isEqualTo(HOSTILE);
    assertThat(Outcome.ofJson(message.value())).contains(OUTCOME);
    Map.of(
            "firstclaim-application", "store",
            "firstclaim-namespace", "shop",
            "firstclaim-store", STORE,
            "firstclaim-sender", "me")
        .forEach(
            (name, text) ->
                assertThat(message.headers().lastHeader(name).value())
                    .isEqualTo(text.getBytes(UTF_8)));
    assertThat(message.headers().lastHeader("firstclaim-fingerprint").value())
        .isEqualTo(PAYLOAD.hash());
  }

  @Test
  void whatComesThen_comesWhenItIsAcknowledged_once() {
    publish();
    assertThat(then).hasValue(0);

    assertThat(producer.completeNext()).isTrue();

    assertThat(then).hasValue(1);
  }

  @Test
  void whatComesThen_comes_thoughItIsNotAcknowledged() {
    publish();

    assertThat(producer.errorNext(new TimeoutException("no broker"))).isTrue();

    assertThat(then).hasValue(1);
  }

  @Test
  void whatComesThen_comes_thoughSendingThrows() {
    producer.sendException = new KafkaException("in an error state");
    publish();
    assertThat(then).hasValue(1);

    producer.sendException = null;
    producer.close();
    publish();
    assertThat(then).hasValue(2);
  }

  /** Kafka's producer gives up what is under way before its close returns. */
  @Test
  void whatComesThen_doesNotCome_whereItIsGivenUpAsTheWriterFinishes() {
    MockProducer<byte[], byte[]> leaderless =
        new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer()) {
          @Override
          public void close(Duration limit) {
            assertThat(errorNext(new KafkaException("closed forcefully"))).isTrue();
            super.close(limit);
          }
        };
    OutcomeWriter writer =
        new OutcomeWriter(
            leaderless, Optional.of("outcomes"), new Origin("store", "shop", STORE, "me"));
    var _ = writer.publish(OUTCOME, ID, PAYLOAD).thenRun(then::incrementAndGet);

    writer.finish(Duration.ZERO);
    var _ = writer.publish(OUTCOME, ID, PAYLOAD).thenRun(then::incrementAndGet);

    assertThat(then).hasValue(0);
  }

  @Test
  void whatComesThen_comes_thoughTheOutcomeCannotBeWritten() {
    Outcome odd =
        new Outcome(
            "\ud800",
            Outcome.Kind.DEAD,
            "a",
            "1",
            1,
            1,
            "in",
            0,
            0,
            Instant.EPOCH,
            Duration.ZERO,
            "\ud800",
            null,
            List.of());
    publish(Optional.of("outcomes"), odd);
    if (!producer.history().isEmpty()) {
      assertThat(producer.completeNext()).isTrue();
    }

    assertThat(then).hasValue(1);
  }

  @Test
  void withoutATopic_nothingIsPublished_andItGoesOn() {
    publish(Optional.empty(), OUTCOME);

    assertThat(producer.history()).isEmpty();
    assertThat(then).hasValue(1);
  }
}
