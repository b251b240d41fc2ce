package io.firstclaim.processor.service.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.SideClients;
import io.firstclaim.processor.engine.api.LetterHeaders;
import io.firstclaim.processor.service.acts.Range;
import io.firstclaim.processor.service.acts.TestSideClients;
import io.firstclaim.stack.server.SharedServers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

/** Dead letters, read from a broker. */
class KafkaLettersTest {
  /** Each waits half a second if there is nothing. */
  private static final int MOST_ROUNDS = 1_200;

  private final SideClients clients = TestSideClients.make();

  /** Makes a topic that has these letters. */
  private void topic(String name, String... ids) throws Exception {
    SharedServers.kafka().createTopic(name, 1);
    try (Producer<byte[], byte[]> producer = clients.producer()) {
      for (String id : ids) {
        var letter = new ProducerRecord<>(name, id.getBytes(UTF_8), "value".getBytes(UTF_8));
        Map.of(
                LetterHeaders.ID, id,
                LetterHeaders.APPLICATION, "orders",
                LetterHeaders.TOPIC, "orders",
                LetterHeaders.PARTITION, "0",
                LetterHeaders.OFFSET, "7",
                LetterHeaders.ATTEMPTS, "5",
                LetterHeaders.ZONE, "a",
                LetterHeaders.CAUSE, "HTTP 422")
            .forEach((header, text) -> letter.headers().add(header, text.getBytes(UTF_8)));
        var _ = producer.send(letter).get();
      }
    }
  }

  /** The letters that are read from there on to the end. */
  private List<String> read(List<Range> ranges, Position from) {
    List<String> read = new ArrayList<>();
    try (Letters.Reading reading = new KafkaLetters(clients).read(ranges, from)) {
      for (int round = 0; round < MOST_ROUNDS && !reading.isAtEnd(); round++) {
        try {
          if (reading.next() instanceof Letters.ReadResult.Letter(var _, var letter)) {
            read.add(letter.id().text());
          }
        } catch (TimeoutException e) {
          // A busy broker takes longer to say where the topic ends; a redrive goes on, too.
        }
      }
      assertThat(reading.isAtEnd()).as("at the end, after %s", read).isTrue();
    }
    return read;
  }

  /** As when it was made anew since, or cut off. */
  @Test
  void topicThatEndsBeforeWhatWasChosen_isReadToItsEnd_andTheOthersAfterIt() throws Exception {
    topic("cut-off.dlt", "r0", "r1");
    topic("whole.dlt", "r2");

    List<Range> ranges =
        List.of(new Range("cut-off.dlt", 0, 0, 5), new Range("whole.dlt", 0, 0, 1));

    assertThat(read(ranges, Position.start(ranges))).containsExactly("r0", "r1", "r2");
  }

  @Test
  void lettersBeforeThePosition_areNotTaken_whereTheTopicEndsBeforeIt() throws Exception {
    topic("made-anew.dlt", "new0", "new1");

    List<Range> ranges = List.of(new Range("made-anew.dlt", 0, 0, 5));

    assertThat(read(ranges, new Position(0, 3))).isEmpty();
  }
}
