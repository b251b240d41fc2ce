package io.firstclaim.lock.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The body of a claim's object, by itself. */
class MarkerTest {
  private static final Instant NOW = Instant.parse("2100-01-01T00:00:00Z");

  private static final RecordId ID = RecordId.of("order-4711");

  private static Marker free(@Nullable RedriveId redrive) {
    return free(ID, redrive);
  }

  private static Marker free(RecordId id, @Nullable RedriveId redrive) {
    return new Marker(
        "test",
        id,
        new ClaimRecord(
            7,
            0,
            new Nonce(1, 2),
            Fingerprint.none(),
            new ClaimState.Free(ClaimStore.AT_ONCE, "cause"),
            redrive),
        Duration.ofDays(8));
  }

  @Test
  void redrive_isReadAsItWasWritten() {
    Marker marker = free(new RedriveId("redrive-1"));

    assertThat(Marker.decode(marker.encode(NOW), NOW)).isEqualTo(marker);
  }

  @Test
  void markerOfWhatWasNeverRedriven_hasNoWordOfIt_asOldOnes() {
    byte[] body = free(null).encode(NOW);

    assertThat(new String(body, UTF_8)).doesNotContain("redrive");
    assertThat(Marker.decode(body, NOW).claim().redrive()).isNull();
  }

  @Test
  void idOfEachSpace_isReadAsItWasWritten_andARecordsMarkerHasNoWordOfIt() {
    for (RecordId.Space space : RecordId.Space.values()) {
      byte[] body = free(ID.in(space), null).encode(NOW);

      assertThat(Marker.decode(body, NOW).id()).isEqualTo(ID.in(space));
      assertThat(new String(body, UTF_8).contains("\"space\""))
          .isEqualTo(space != RecordId.Space.RECORD);
    }
  }

  /** As resources were written before there were other spaces. */
  @Test
  void resourceOfAnOldMarker_isRead() {
    String body = new String(free(ID, null).encode(NOW), UTF_8);
    String old = body.replaceFirst("\"token\"", "\"resource\":true,\"token\"");

    assertThat(Marker.decode(old.getBytes(UTF_8), NOW).id()).isEqualTo(ID.asResource());
  }

  @Test
  void spaceThatIsNone_isNoMarker() {
    String body = new String(free(ID.asMutex(), null).encode(NOW), UTF_8);

    assertThatThrownBy(() -> Marker.decode(body.replace("MUTEX", "LOCK").getBytes(UTF_8), NOW))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void redriveThatIsNone_isNoMarker() {
    String body = new String(free(new RedriveId("redrive-1")).encode(NOW), UTF_8);

    assertThatThrownBy(() -> Marker.decode(body.replace("redrive-1", "a b").getBytes(UTF_8), NOW))
        .isInstanceOf(IllegalStateException.class);
  }
}
