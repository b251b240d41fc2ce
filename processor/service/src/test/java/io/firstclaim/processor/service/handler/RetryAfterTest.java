package io.firstclaim.processor.service.handler;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RetryAfterTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  @ParameterizedTest
  @CsvSource({"1,1", "007,7", "3600,3600", "3601,3600", "99999999999999999999,3600"})
  void seconds_areTaken_upToAnHour(String header, long seconds) {
    assertThat(RetryAfter.parse(header, NOW)).contains(Duration.ofSeconds(seconds));
  }

  @Test
  void date_isTaken_upToAnHour() {
    assertThat(RetryAfter.parse(" Sun, 01 Mar 2026 12:00:30 GMT ", NOW))
        .contains(Duration.ofSeconds(30));
    assertThat(RetryAfter.parse("Mon, 01 Mar 2027 12:00:00 GMT", NOW))
        .contains(Duration.ofHours(1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0",
        "-1",
        "1.5",
        "soon",
        "٣",
        "Sun, 01 Mar 2026 11:59:59 GMT",
        "Sun, 01 Mar 2026 12:00:00 GMT",
        "Mon, 01 Mar 2026 13:00:00 GMT"
      })
  void otherValues_areNone(String header) {
    assertThat(RetryAfter.parse(header, NOW)).isEmpty();
  }
}
