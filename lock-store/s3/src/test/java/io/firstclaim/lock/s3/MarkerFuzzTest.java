package io.firstclaim.lock.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.ClaimState.Free;
import io.firstclaim.lock.OneLine;
import java.time.Instant;

/** Whatever an object under the prefix holds: anybody who may write to the bucket can have. */
class MarkerFuzzTest {
  private static final Instant WRITTEN = Instant.parse("2100-01-01T00:00:00Z");

  /** By which a duration that is written counts from the same moment as when it is read. */
  private static final Instant NOW = WRITTEN.plus(Marker.CUT);

  @FuzzTest(maxDuration = "10m")
  void anyBody_isAMarker_orSaidNotToBeOne(byte[] body) {
    Marker marker;
    try {
      marker = Marker.decode(body, WRITTEN);
    } catch (IllegalStateException e) {
      String message = String.valueOf(e.getMessage());
      assertThat(message).isEqualTo(OneLine.of(message));
      return;
    }
    Marker again = Marker.decode(marker.encode(NOW), WRITTEN);

    assertThat(Marker.decode(again.encode(NOW), WRITTEN)).isEqualTo(again);
    if (isWellFormed(marker) && !isDueWhenWritten(marker)) {
      assertThat(again).isEqualTo(marker);
    }
  }

  /** Half a surrogate pair can be written in JSON, and not in UTF-8. */
  private static boolean isWellFormed(Marker marker) {
    String text = marker.toString();
    return text.equals(new String(text.getBytes(UTF_8), UTF_8));
  }

  private static boolean isDueWhenWritten(Marker marker) {
    return marker.claim().state() instanceof Free free && free.retryAt().equals(WRITTEN);
  }
}
