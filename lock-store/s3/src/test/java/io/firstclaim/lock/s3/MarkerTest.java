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
import java.util.List;
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

  private static Marker marker(ClaimState state) {
    return new Marker(
        "test",
        ID,
        new ClaimRecord(7, 3, new Nonce(1, 2), Fingerprint.none(), state),
        Duration.ofDays(8));
  }

  private static ClaimState readBack(ClaimState written) {
    return Marker.decode(marker(written).encode(NOW), NOW).claim().state();
  }

  @Test
  void endedState_isReadAsItWasWritten() {
    for (ClaimState end :
        List.of(
            new ClaimState.Done("a", NOW, "result"),
            new ClaimState.Done("a", NOW, null),
            new ClaimState.Dead("a", NOW, "cause"))) {
      assertThat(Marker.decode(marker(end).encode(NOW), NOW)).isEqualTo(marker(end));
    }
  }

  /** The store's clock tells whole seconds: what others wait for ends up to one later. */
  @Test
  void leaseAndWait_countFromTheStoresWrite_andEndUpToASecondLater() {
    Duration lease = Duration.ofSeconds(30);

    assertThat(readBack(new ClaimState.Held("a", lease, NOW.plus(lease), "another record")))
        .isEqualTo(
            new ClaimState.Held("a", lease, NOW.plus(Marker.CUT).plus(lease), "another record"));
    assertThat(readBack(new ClaimState.Held("a", lease, NOW.plus(lease))))
        .isEqualTo(new ClaimState.Held("a", lease, NOW.plus(Marker.CUT).plus(lease)));
    assertThat(readBack(new ClaimState.Free(NOW.plusSeconds(9), "cause")))
        .isEqualTo(new ClaimState.Free(NOW.plus(Marker.CUT).plusSeconds(9), "cause"));
    assertThat(readBack(new ClaimState.Free(NOW, "cause")))
        .isEqualTo(new ClaimState.Free(NOW, "cause"));
    assertThat(readBack(new ClaimState.Free(ClaimStore.AT_ONCE, "cause")))
        .isEqualTo(new ClaimState.Free(ClaimStore.AT_ONCE, "cause"));
  }

  @Test
  void halfASurrogatePair_inAName_isAQuestionMark() {
    assertThat(readBack(new ClaimState.Done("a\uD83D", NOW, null)))
        .isEqualTo(new ClaimState.Done("a?", NOW, null));
  }

  @Test
  void longestMarker_isWritten_andALongerOneRefused() {
    int rest = marker(new ClaimState.Done("a", NOW, "")).encode(NOW).length;
    String longest = "x".repeat(Marker.MAX_BYTES - rest);

    assertThat(marker(new ClaimState.Done("a", NOW, longest)).encode(NOW))
        .hasSize(Marker.MAX_BYTES);
    assertThatThrownBy(() -> marker(new ClaimState.Done("a", NOW, longest + "x")).encode(NOW))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1048576 bytes on S3, this one 1048577");
  }

  @Test
  void markerThatDoesNotSayHowLongItIsKept_isKeptForNoTime() {
    String body = new String(free(null).encode(NOW), UTF_8);
    String old = body.replaceFirst("\"retentionMillis\":\\d+,", "");

    assertThat(Marker.decode(old.getBytes(UTF_8), NOW).retention()).isEqualTo(Duration.ZERO);
    assertThat(Marker.decode(body.getBytes(UTF_8), NOW).retention()).isEqualTo(Duration.ofDays(8));
  }

  @Test
  void whatIsWrongWithABody_isNamed() {
    String body = new String(marker(new ClaimState.Done("a", NOW, null)).encode(NOW), UTF_8);

    assertNoMarker("[]", "it is not a JSON object");
    assertNoMarker(body.replace("\"holder\":\"a\"", "\"of\":\"a\""), "holder is missing");
    assertNoMarker(body.replace("\"holder\":\"a\"", "\"holder\":1"), "holder is not a string");
    assertNoMarker(body.replace("\"token\":7", "\"token\":\"7\""), "token is not a whole number");
    assertNoMarker(body.replace("\"DONE\"", "\"OVER\""), "state is none of HELD, FREE, DONE, DEAD");
  }

  private static void assertNoMarker(String body, String because) {
    assertThatThrownBy(() -> Marker.decode(body.getBytes(UTF_8), NOW))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(because);
  }
}
