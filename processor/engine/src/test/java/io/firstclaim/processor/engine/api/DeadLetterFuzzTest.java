package io.firstclaim.processor.engine.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RedriveId;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;

/** A dead letter is read or is none, whatever its headers are: anybody may write to a topic. */
class DeadLetterFuzzTest {
  /** Separates the headers' values. */
  private static final byte SEPARATOR = 0x1e;

  private static final List<String> NAMES =
      List.of(
          LetterHeaders.ID,
          LetterHeaders.TOPIC,
          LetterHeaders.PARTITION,
          LetterHeaders.OFFSET,
          LetterHeaders.ATTEMPTS,
          LetterHeaders.ZONE,
          LetterHeaders.CAUSE,
          LetterHeaders.APPLICATION,
          LetterHeaders.REDRIVE,
          LetterHeaders.OMITTED,
          LetterHeaders.TIMESTAMP);

  private static ConsumerRecord<byte[], byte[]> record(byte[] input) {
    RecordHeaders headers = new RecordHeaders();
    headers.add("own", "kept".getBytes(UTF_8));
    int from = 0;
    for (String name : NAMES) {
      int to = from;
      while (to < input.length && input[to] != SEPARATOR) {
        to++;
      }
      if (to > from) {
        headers.add(name, Arrays.copyOfRange(input, from, to));
      }
      from = Math.min(to + 1, input.length);
    }
    return record(input, headers);
  }

  private static ConsumerRecord<byte[], byte[]> record(byte[] value, RecordHeaders headers) {
    return new ConsumerRecord<>(
        "orders.dlt",
        0,
        1,
        0,
        TimestampType.CREATE_TIME,
        0,
        0,
        value,
        value,
        headers,
        Optional.empty());
  }

  @FuzzTest(maxDuration = "10m")
  void anyRecord_isADeadLetterThatCanBePublishedAgain_orNone(byte[] input) {
    Optional<DeadLetter> read = DeadLetter.read(record(input));
    if (read.isEmpty()) {
      return;
    }
    DeadLetter letter = read.get();

    assertThat(OneLine.of(letter.zone())).isEqualTo(letter.zone());
    assertThat(OneLine.of(letter.cause())).isEqualTo(letter.cause());
    letter.application().ifPresent(name -> assertThat(OneLine.of(name)).isEqualTo(name));
    assertThat(letter.offset()).isNotNegative();
    if (letter.whole()) {
      ProducerRecord<byte[], byte[]> again = letter.again("shop", new RedriveId("again"));
      assertThat(again.value()).isEqualTo(input);
      assertThat(LetterHeaders.text(again.headers(), LetterHeaders.ID))
          .isEqualTo(letter.id().text());
      assertThat(LetterHeaders.beforeRedrive(again.headers()))
          .extracting("key")
          .containsExactly("own");
    }
  }
}
