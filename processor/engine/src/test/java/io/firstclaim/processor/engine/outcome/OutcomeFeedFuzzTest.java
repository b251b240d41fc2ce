package io.firstclaim.processor.engine.outcome;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.testing.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;

/** The feed goes on, whatever an outcome or a presence says: anybody may write to a topic. */
class OutcomeFeedFuzzTest {
  private static final RecordId ID = RecordId.of("order-1");
  private static final Fingerprint PAYLOAD = Fingerprint.of(new byte[] {1});

  @FuzzTest(maxDuration = "10m")
  void anyOutcome_canBeRemembered(byte[] value) {
    TestTime time = TestTime.standing();
    KnownDone known = new KnownDone(3, 1 << 20, Duration.ofDays(8), time);
    Optional<Outcome> read = Outcome.ofJson(value);
    if (read.isPresent()) {
      Outcome outcome = read.get();

      boolean _ = known.add(ID, PAYLOAD, outcome.token(), outcome.at());

      Instant start = time.now().wall();
      assertThat(known.contains(ID, PAYLOAD))
          .isEqualTo(outcome.at().isAfter(start.minus(Duration.ofDays(8))));
    }
  }

  @FuzzTest(maxDuration = "10m")
  void anyPresence_isHeard_andToldInOneLine(byte[] value) {
    EngineSettings settings =
        Engine.builder()
            .zone("a")
            .instance("a1")
            .topics("in")
            .recordId("key")
            .bootstrapServers("unused:9092")
            .settings();
    String namespace = settings.claim().store().namespace();
    Origin own = new Origin(settings.application(), namespace, "store-1", "sender-1");
    StoreAgreement agreement = new StoreAgreement(settings, own, "store-1");
    RecordHeaders headers = new RecordHeaders();
    new Origin(settings.application(), namespace, "store-2\n", "sender-2")
        .headers()
        .forEach(headers::add);

    agreement.heard(
        new ConsumerRecord<>(
            "outcomes",
            0,
            7,
            0,
            TimestampType.CREATE_TIME,
            0,
            0,
            "key".getBytes(UTF_8),
            value,
            headers,
            Optional.empty()));

    agreement.obstacle().ifPresent(why -> assertThat(why).isEqualTo(OneLine.of(why)));
    Presence next = agreement.next();
    assertThat(Presence.read(next.json(Instant.EPOCH))).contains(next);
    Presence.read(value)
        .ifPresent(
            presence -> assertThat(Presence.read(presence.json(Instant.EPOCH))).contains(presence));
  }
}
