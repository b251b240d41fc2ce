package io.firstclaim.processor.engine.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeadLetterTest {
  private static final RedriveId REDRIVE = new RedriveId("redrive-1");

  private static Headers letter() {
    return new RecordHeaders()
        .add("ce_type", "order".getBytes(UTF_8))
        .add("empty", null)
        .add("firstclaim-application", "shop".getBytes(UTF_8))
        .add("firstclaim-id", "a%0D%0A%00".getBytes(UTF_8))
        .add("firstclaim-attempts", "5".getBytes(UTF_8))
        .add("firstclaim-zone", "a".getBytes(UTF_8))
        .add("firstclaim-cause", "HTTP 422\nno such customer".getBytes(UTF_8))
        .add("firstclaim-topic", "orders".getBytes(UTF_8))
        .add("firstclaim-partition", "7".getBytes(UTF_8))
        .add("firstclaim-offset", "4711".getBytes(UTF_8));
  }

  @SuppressWarnings("NullAway") // key and value of a Kafka record may be null
  private static ConsumerRecord<byte[], byte[]> record(byte @Nullable [] value, Headers headers) {
    return new ConsumerRecord<>(
        "orders.dlt",
        0,
        1,
        0,
        TimestampType.CREATE_TIME,
        0,
        0,
        null,
        value,
        headers,
        Optional.empty());
  }

  private static DeadLetter read(Headers headers) {
    return DeadLetter.read(record(new byte[] {1}, headers)).orElseThrow();
  }

  private static List<String> names(Headers headers) {
    return Arrays.stream(headers.toArray()).map(Header::key).toList();
  }

  @Test
  void letter_saysWhatHappened_inPrintableLines() {
    DeadLetter letter = read(letter());

    assertThat(letter.id()).isEqualTo(RecordId.of(new byte[] {'a', '\r', '\n', 0}));
    assertThat(letter.application()).contains("shop");
    assertThat(letter.topic()).isEqualTo("orders");
    assertThat(letter.partition()).isEqualTo(7);
    assertThat(letter.offset()).isEqualTo(4711);
    assertThat(letter.attempts()).isEqualTo(5);
    assertThat(letter.cause()).isEqualTo("HTTP 422 no such customer");
    assertThat(letter.redrive()).isEmpty();
    assertThat(letter.whole()).isTrue();
    assertThat(letter.payload()).isEqualTo(Fingerprint.of(new byte[] {1}));
  }

  @ParameterizedTest
  @CsvSource({"1234, 1234", "-1, -1", "-99, -1"})
  void recordAgain_bringsItsOwnTime_whichItIsDeliveredWith(String header, long time) {
    DeadLetter letter = read(letter().add("firstclaim-timestamp", header.getBytes(UTF_8)));
    assertThat(letter.timestamp()).hasValue(time);
    ProducerRecord<byte[], byte[]> again = letter.again("shop", REDRIVE);
    assertThat(again.timestamp()).as("Kafka's own is that of publishing").isNull();
    ConsumerRecord<byte[], byte[]> delivered = record(again.value(), again.headers());

    assertThat(LetterHeaders.withOwnTime(delivered, "shop").timestamp()).isEqualTo(time);
    assertThat(LetterHeaders.withOwnTime(delivered, "other")).isSameAs(delivered);
  }

  @Test
  void timeOfARecordThatNobodyRedrove_orThatIsNoTime_isKafkasOwn() {
    ConsumerRecord<byte[], byte[]> plain =
        record(
            null,
            new RecordHeaders()
                .add("firstclaim-application", "shop".getBytes(UTF_8))
                .add("firstclaim-timestamp", "1234".getBytes(UTF_8)));
    Headers noTime = letter().add("firstclaim-timestamp", "noon".getBytes(UTF_8));
    ConsumerRecord<byte[], byte[]> again =
        record(null, read(noTime).again("shop", REDRIVE).headers());

    assertThat(LetterHeaders.withOwnTime(plain, "shop")).isSameAs(plain);
    assertThat(LetterHeaders.withOwnTime(again, "shop")).isSameAs(again);
  }

  @Test
  void recordAgain_isTheRecord_withTheHeadersOfARedriveAlone() {
    ProducerRecord<byte[], byte[]> again = read(letter()).again("shop", REDRIVE);

    assertThat(again.topic()).isEqualTo("orders");
    assertThat(again.partition()).isEqualTo(7);
    assertThat(again.key()).isNull();
    assertThat(again.value()).containsExactly(1);
    assertThat(names(again.headers()))
        .containsExactly(
            "ce_type", "empty", "firstclaim-application", "firstclaim-redrive", "firstclaim-id");
    assertThat(again.headers().lastHeader("firstclaim-id").value())
        .isEqualTo("a%0D%0A%00".getBytes(UTF_8));
  }

  /** A letter whose record was another application's dead letter when it came. */
  @Test
  void letterOfALetter_keepsTheHeadersThatItsRecordHad() {
    Headers twice = new RecordHeaders(letter().toArray());
    letter().forEach(twice::add);

    List<String> names = names(read(twice).again("shop", REDRIVE).headers());

    assertThat(names).filteredOn("firstclaim-cause"::equals).hasSize(1);
    assertThat(names).filteredOn("firstclaim-id"::equals).hasSize(2);
  }

  @Test
  void letterOfVersion010_isReadToo_andSaysNotWhoseItIs() {
    Headers old = letter();
    old.remove("firstclaim-application");

    assertThat(read(old).application()).isEmpty();
  }

  @Test
  void stub_cannotBeRedriven() {
    DeadLetter stub = read(letter().add("firstclaim-omitted", "key,value".getBytes(UTF_8)));

    assertThat(stub.whole()).isFalse();
    assertThatThrownBy(() -> stub.again("shop", REDRIVE))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("orders-7 offset 4711");
  }

  @ParameterizedTest
  @CsvSource({
    "firstclaim-id, ''",
    "firstclaim-topic, ../etc",
    "firstclaim-topic, ''",
    "firstclaim-partition, -1",
    "firstclaim-partition, 99999999999",
    "firstclaim-offset, x",
    "firstclaim-attempts, ''",
    "firstclaim-redrive, 'a b'"
  })
  void whatIsNoLetter_isNone(String name, String value) {
    assertThat(DeadLetter.read(record(null, letter().add(name, value.getBytes(UTF_8))))).isEmpty();
  }

  @Test
  void recordWithoutHeaders_isNone() {
    assertThat(DeadLetter.read(record(null, new RecordHeaders()))).isEmpty();
  }
}
