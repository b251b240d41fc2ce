package io.firstclaim.processor.engine.deadletter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.engine.api.LetterHeaders;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeadLettersTest {
  private static final RecordId ID = RecordId.of(new byte[] {'a', '\r', '\n', 0});
  private static final byte[] KEY = {0, 1, (byte) 0xff};
  private static final byte[] VALUE = {7, (byte) 0x80, 9};

  /** A producer that refuses records above a size. */
  private static final class Sink extends MockProducer<byte[], byte[]> {
    private int longestValue = Integer.MAX_VALUE;

    Sink() {
      super(true, null, new ByteArraySerializer(), new ByteArraySerializer());
    }

    @Override
    public synchronized Future<RecordMetadata> send(
        ProducerRecord<byte[], byte[]> message, Callback callback) {
      byte[] value = message.value();
      return value != null && value.length > longestValue
          ? CompletableFuture.failedFuture(new RecordTooLargeException("too large"))
          : super.send(message, callback);
    }

    ProducerRecord<byte[], byte[]> only() {
      assertThat(history()).hasSize(1);
      return history().getFirst();
    }
  }

  private final Sink sink = new Sink();
  private final DeadLetters letters =
      new DeadLetters(sink, topic -> topic + ".dlt", "shop", "eu-1");

  @SuppressWarnings("NullAway") // key and value of a Kafka record may be null
  private static ConsumerRecord<byte[], byte[]> record(
      byte @Nullable [] key, byte @Nullable [] value) {
    Headers headers =
        new RecordHeaders()
            .add("ce_type", "order".getBytes(UTF_8))
            .add("empty", null)
            .add("ce_type", "twice".getBytes(UTF_8));
    return new ConsumerRecord<>(
        "orders",
        7,
        4711,
        1234,
        TimestampType.CREATE_TIME,
        0,
        0,
        key,
        value,
        headers,
        Optional.empty());
  }

  private static List<String> names(Headers headers) {
    return StreamSupport.stream(headers.spliterator(), false).map(Header::key).toList();
  }

  private static String text(ProducerRecord<byte[], byte[]> letter, String name) {
    return new String(Objects.requireNonNull(letter.headers().lastHeader(name)).value(), UTF_8);
  }

  @Test
  void letter_isTheRecordUntouched_andHeadersThatSayWhatHappened() throws InterruptedException {
    ConsumerRecord<byte[], byte[]> record = record(KEY, VALUE);

    letters.write(record, ID, 5, "no such customer", null);

    ProducerRecord<byte[], byte[]> letter = sink.only();
    assertThat(letter.topic()).isEqualTo("orders.dlt");
    assertThat(letter.partition()).isNull();
    assertThat(letter.key()).isEqualTo(KEY);
    assertThat(letter.value()).isEqualTo(VALUE);
    assertThat(names(letter.headers()))
        .containsExactly(
            "ce_type",
            "empty",
            "ce_type",
            "firstclaim-application",
            "firstclaim-id",
            "firstclaim-attempts",
            "firstclaim-zone",
            "firstclaim-cause",
            "firstclaim-topic",
            "firstclaim-partition",
            "firstclaim-offset",
            "firstclaim-timestamp");
    assertThat(letter.headers().lastHeader("empty").value()).isNull();
    assertThat(text(letter, "firstclaim-id")).isEqualTo("a%0D%0A%00");
    assertThat(text(letter, "firstclaim-attempts")).isEqualTo("5");
    assertThat(text(letter, "firstclaim-zone")).isEqualTo("eu-1");
    assertThat(text(letter, "firstclaim-cause")).isEqualTo("no such customer");
    assertThat(text(letter, "firstclaim-topic")).isEqualTo("orders");
    assertThat(text(letter, "firstclaim-partition")).isEqualTo("7");
    assertThat(text(letter, "firstclaim-offset")).isEqualTo("4711");
    assertThat(text(letter, "firstclaim-timestamp")).isEqualTo("1234");
    assertThat(letter.timestamp()).as("Kafka's own is that of writing").isNull();
    assertThat(names(record.headers())).containsExactly("ce_type", "empty", "ce_type");
  }

  @Test
  void recordWithoutKeyOrValue_isALetterWithoutThem() throws InterruptedException {
    letters.write(record(null, null), ID, 1, "no ID", null);

    assertThat(sink.only().key()).isNull();
    assertThat(sink.only().value()).isNull();
  }

  @Test
  void configuredTopic_takesAll() throws InterruptedException {
    new DeadLetters(sink, _ -> "dead", "shop", "eu-1")
        .write(record(KEY, VALUE), ID, 1, "why", null);

    assertThat(sink.only().topic()).isEqualTo("dead");
  }

  @Test
  void longCause_isCut() throws InterruptedException {
    letters.write(record(KEY, VALUE), ID, 1, "x".repeat(5000), null);

    assertThat(text(sink.only(), "firstclaim-cause")).hasSizeLessThanOrEqualTo(1001);
  }

  @Test
  void letterThatIsTooLarge_becomesAStub_thatSaysWhereTheRecordIs() throws InterruptedException {
    sink.longestValue = 2;

    letters.write(record(KEY, VALUE), ID, 1, "why", null);

    ProducerRecord<byte[], byte[]> stub = sink.only();
    assertThat(stub.topic()).isEqualTo("orders.dlt");
    assertThat(stub.key()).isNull();
    assertThat(stub.value()).isNull();
    assertThat(names(stub.headers())).doesNotContain("ce_type").contains("firstclaim-cause");
    assertThat(text(stub, "firstclaim-omitted")).isEqualTo("key,value,headers");
    assertThat(text(stub, "firstclaim-partition")).isEqualTo("7");
    assertThat(text(stub, "firstclaim-offset")).isEqualTo("4711");
  }

  @Test
  void letterThatIsNotAcknowledged_isAFault() {
    MockProducer<byte[], byte[]> mute =
        new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer()) {
          @Override
          public synchronized Future<RecordMetadata> send(
              ProducerRecord<byte[], byte[]> message, Callback callback) {
            return CompletableFuture.failedFuture(new TimeoutException("no broker"));
          }
        };
    assertThatThrownBy(
            () ->
                new DeadLetters(mute, topic -> topic + ".dlt", "shop", "a")
                    .write(record(KEY, VALUE), ID, 1, "why", null))
        .isInstanceOf(DeadLetterException.class)
        .hasMessageContaining("orders.dlt")
        .hasMessageContaining("no broker");
  }

  @Test
  void sendingThatThrows_isAFault() {
    sink.sendException = new KafkaException("in an error state");

    assertThatThrownBy(() -> letters.write(record(KEY, VALUE), ID, 1, "why", null))
        .isInstanceOf(DeadLetterException.class);
  }

  /** They would be headers of the letter that it does not always have. */
  @ParameterizedTest
  @CsvSource({
    "firstclaim-redrive, 'a b'",
    "firstclaim-redrive, redrive-7",
    "firstclaim-omitted, 'key,value'",
    "firstclaim-timestamp, 1"
  })
  void recordsOwnHeaders_stayItsOwn_whateverTheirNames(String name, String value)
      throws InterruptedException {
    ConsumerRecord<byte[], byte[]> record = record(KEY, VALUE);
    record.headers().add(name, value.getBytes(UTF_8));
    Header[] own = record.headers().toArray();

    letters.write(record, ID, 5, "no such customer", null);
    DeadLetter letter = read(sink.only());

    assertThat(letter.whole()).isTrue();
    assertThat(letter.redrive()).isEmpty();
    assertThat(letter.timestamp()).hasValue(1234);
    Headers again = letter.again("shop", new RedriveId("redrive-1")).headers();
    assertThat(LetterHeaders.beforeRedrive(again)).containsExactly(own);
  }

  private static DeadLetter read(ProducerRecord<byte[], byte[]> written) {
    return DeadLetter.read(
            new ConsumerRecord<>(
                written.topic(),
                0,
                0,
                0,
                TimestampType.CREATE_TIME,
                0,
                0,
                written.key(),
                written.value(),
                written.headers(),
                Optional.empty()))
        .orElseThrow();
  }

  @Test
  void letterOfARedrivenRecord_hasTheRecordsOwnHeaders_andEachOfOursOnce()
      throws InterruptedException {
    ConsumerRecord<byte[], byte[]> record = record(KEY, VALUE);
    record
        .headers()
        .add("firstclaim-application", "shop".getBytes(UTF_8))
        .add("firstclaim-redrive", "redrive-1".getBytes(UTF_8))
        .add("firstclaim-id", ID.text().getBytes(UTF_8));

    letters.write(record, ID, 5, "no such customer", new RedriveId("redrive-1"));

    assertThat(names(sink.only().headers()))
        .containsExactly(
            "ce_type",
            "empty",
            "ce_type",
            "firstclaim-application",
            "firstclaim-redrive",
            "firstclaim-id",
            "firstclaim-attempts",
            "firstclaim-zone",
            "firstclaim-cause",
            "firstclaim-topic",
            "firstclaim-partition",
            "firstclaim-offset",
            "firstclaim-timestamp");
    assertThat(text(sink.only(), "firstclaim-redrive")).isEqualTo("redrive-1");
  }
}
