package io.firstclaim.processor.audit.topology;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.audit.api.Violation;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;

/** Whatever stands in the audit's stores, and whatever outcomes it hears. */
class FormFuzzTest {
  private static final RecordId ID = RecordId.of("order-1");
  private static final Instant NOW = Instant.parse("2100-01-01T00:00:00Z");

  @FuzzTest(maxDuration = "10m")
  void anyValue_isRead_orPassedOver_orSaidToBeCut(byte[] value) {
    read(() -> RecordState.of(RecordState.of(value).bytes()));
    read(() -> Stores.stuck(ID, value, NOW));
    read(() -> Stores.dead(ID, value));
    read(() -> Stores.violation(ID, value).map(Violation::outcome).map(Outcome::json));
    read(() -> Stores.minute("a", NOW, value).plus(Stores.minute("a", NOW, value)));
    read(() -> Stores.time(value));
  }

  private static void read(Supplier<?> reader) {
    try {
      Object read = reader.get();
      assertThat(read).isNotNull();
    } catch (UncheckedIOException e) {
      assertThat(e).hasMessage("a value of version 1 is cut");
    }
  }

  @FuzzTest(maxDuration = "10m")
  void anyOutcomes_areKeptInBoundedSpace_andFoundAgain(FuzzedDataProvider data) {
    RecordState state = RecordState.empty();
    long now = NOW.toEpochMilli();
    while (data.remainingBytes() > 0) {
      now += data.consumeLong(0, Duration.ofDays(1).toMillis());
      Outcome outcome =
          new Outcome(
              "order-1",
              data.pickValue(Outcome.Kind.values()),
              "a",
              "a/1",
              data.consumeBoolean() ? data.consumeLong(1, 5) : data.consumeLong(),
              1,
              "in",
              0,
              7,
              Instant.ofEpochMilli(data.consumeLong()),
              Duration.ofMillis(data.consumeLong()),
              null,
              null,
              List.of());
      OutcomeMessage message =
          new OutcomeMessage(
              "orders",
              "orders",
              "store-" + data.consumeInt(1, 2),
              ID,
              Fingerprint.of(new byte[] {data.consumeByte()}),
              outcome);
      state = state.with(message, outcome.json(), now, Duration.ofDays(8)).state();

      assertThat(RecordState.of(state.bytes()).bytes()).isEqualTo(state.bytes());
      assertThat(state.events().size()).isLessThanOrEqualTo(RecordState.MAX_EVENTS);
    }
  }
}
