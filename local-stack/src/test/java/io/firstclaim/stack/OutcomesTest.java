package io.firstclaim.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OutcomesTest {

  @ParameterizedTest
  @CsvSource({
    "order-1, order-1",
    "'a\tb', a%09b",
    "'\uD83D\uDC68\u200D\uD83D\uDC69', %F0%9F%91%A8%E2%80%8D%F0%9F%91%A9"
  })
  void outcome_isOfTheEventWhoseIdIsItsKey_howeverThatIsShown(String id, String shown)
      throws IOException {
    Ledger ledger = new Ledger(List.of(new Event(id, "{}")));
    String json =
        "{\"id\":\"%s\",\"outcome\":\"COMPLETED\",\"zone\":\"a\",\"token\":1}".formatted(shown);

    Outcomes.note(
        new ConsumerRecord<>(
            Outcomes.TOPIC,
            0,
            0,
            id.getBytes(StandardCharsets.UTF_8),
            json.getBytes(StandardCharsets.UTF_8)),
        ledger);

    assertThat(ledger.settled()).isOne();
    assertThat(ledger.strangers()).isZero();
  }
}
