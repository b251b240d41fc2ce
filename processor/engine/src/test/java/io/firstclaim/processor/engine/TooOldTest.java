package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimState;
import io.firstclaim.processor.engine.TestInstance.Sent;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.EngineSettings.TooOld;
import io.firstclaim.processor.engine.api.LetterHeaders;
import io.firstclaim.processor.engine.testing.LogLines;
import io.firstclaim.processor.handler.HandlerResult;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records that are older than what claims remember, 15 days here. */
@Isolated(LogLines.WHY_ALONE)
class TooOldTest extends FlowFixture {
  private static final Duration REMEMBERED = Duration.ofDays(15);

  private ConsumerRecord<byte[], byte[]> record(String id, Duration age) {
    return new ConsumerRecord<>(
        "in",
        0,
        0,
        time.now().wall().minus(age).toEpochMilli(),
        TimestampType.CREATE_TIME,
        0,
        0,
        id.getBytes(UTF_8),
        "{}".getBytes(UTF_8),
        new RecordHeaders(),
        Optional.empty());
  }

  private static void settle(Sent sent) {
    eventually(sent::isOver);
  }

  @Test
  void recordOlderThanClaims_isProcessed_countedAndWarnedOf_onceForAll()
      throws InterruptedException {
    TestInstance a = start("a", FlowFixture::done);
    try (LogLines log = new LogLines("io.firstclaim.processor.engine.flow.Claimer")) {
      settle(a.deliver(record("order-1", REMEMBERED.plusMinutes(1))));
      settle(a.deliver(record("order-2", REMEMBERED.plusDays(100))));
      settle(a.deliver(record("order-1", REMEMBERED.plusMinutes(1)))); // which the store knows now
      settle(a.deliver(record("order-3", REMEMBERED.minusMinutes(1))));

      assertThat(log.of("WARN"))
          .singleElement()
          .asString()
          .startsWith("WARN order-1 is processed though its time, ")
          .endsWith(
              ", is longer ago than claims are kept (PT360H), so whether it was handled before is"
                  + " not known; firstclaim.input.too-old=dead-letter gives such records up");
    }
    assertThat(a.listener.tooOld).hasValue(2);
    assertThat(calls).hasSize(3);
  }

  @Test
  void recordThatIsNew_isNotCountedAgain_whenItIsTriedAgain() throws InterruptedException {
    TestInstance a = start("a", failing(1));

    settle(a.deliver(record("order-1", REMEMBERED.plusDays(1))));

    assertThat(calls).hasSize(2);
    assertThat(a.listener.tooOld).hasValue(1);
  }

  @Test
  void recordOlderThanClaims_isGivenUp_ifThatIsAskedFor() throws InterruptedException {
    settings.tooOld = TooOld.DEAD_LETTER;
    TestInstance a = start("a", FlowFixture::done);

    settle(a.deliver(record("order-1", REMEMBERED.plusMinutes(1))));
    settle(a.deliver(record("order-2", REMEMBERED.minusMinutes(1))));

    assertThat(calls)
        .singleElement()
        .satisfies(call -> assertThat(call.id().text()).isEqualTo("order-2"));
    assertThat(a.listener.delivered()).containsExactly(Delivered.DEAD, Delivered.COMPLETED);
    assertThat(a.listener.tooOld).hasValue(1);
    assertThat(stateOf("order-1"))
        .isInstanceOfSatisfying(
            ClaimState.Dead.class,
            dead ->
                assertThat(dead.cause()).contains("is longer ago than claims are kept (PT360H)"));
    assertThat(broker.deadLetters())
        .singleElement()
        .satisfies(
            letter -> assertThat(TestBroker.header(letter, LetterHeaders.ID)).isEqualTo("order-1"));
  }

  @ParameterizedTest
  @EnumSource(TooOld.class)
  void recordThatWasRedriven_isProcessed_howeverOld(TooOld setting) throws InterruptedException {
    settings.tooOld = setting;
    TestInstance a = start("a", _ -> HandlerResult.done());
    ConsumerRecord<byte[], byte[]> record = record("order-1", REMEMBERED.plusDays(1));
    record
        .headers()
        .add(LetterHeaders.APPLICATION, "firstclaim".getBytes(UTF_8))
        .add(LetterHeaders.REDRIVE, "redrive-1".getBytes(UTF_8))
        .add(LetterHeaders.ID, "order-1".getBytes(UTF_8));

    settle(a.deliver(record));

    assertThat(a.listener.delivered()).isEqualTo(List.of(Delivered.COMPLETED));
    assertThat(a.listener.tooOld).hasValue(0);
  }
}
