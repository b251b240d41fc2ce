package io.firstclaim.processor.service.instance;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.OpenTelemetry;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TelemetryTest {
  private final Telemetry telemetry = new Telemetry(OpenTelemetry.noop());

  @ParameterizedTest
  @CsvSource({"PT-3S, PT1S", "PT0S, PT1S", "PT2S, PT3S", "PT20S, PT5S"})
  void lastSpans_haveWhatIsLeftOfTheGrace_andASecond(Duration left, Duration have) {
    telemetry.extend(left);

    assertThat(telemetry.lastSpans()).isEqualTo(have);
  }
}
