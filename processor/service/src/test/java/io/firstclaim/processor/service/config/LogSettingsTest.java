package io.firstclaim.processor.service.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogSettingsTest {

  @Test
  void settingsThatAreNotGiven_areRight() {
    assertThat(LogSettings.faults(Map.of())).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"plain,INFO", "json,debug", "plain,OFF"})
  void knownFormatAndLevel_areRight(String format, String level) {
    assertThat(
            LogSettings.faults(
                Map.of("FIRSTCLAIM_LOG_FORMAT", format, "FIRSTCLAIM_LOG_LEVEL", level)))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "FIRSTCLAIM_LOG_FORMAT, JSON, give plain or json",
    "FIRSTCLAIM_LOG_FORMAT, '', give plain or json",
    "FIRSTCLAIM_LOG_LEVEL, LOUD, 'give one of TRACE, DEBUG, INFO, WARN, ERROR, OFF, ALL'",
    "FIRSTCLAIM_LOG_LEVEL, '', 'give one of TRACE, DEBUG, INFO, WARN, ERROR, OFF, ALL'"
  })
  void unknownValue_stopsTheStart_withPropertyValueAndRemedy(
      String property, String value, String remedy) {
    assertThat(LogSettings.faults(Map.of(property, value)))
        .singleElement(InstanceOfAssertFactories.THROWABLE)
        .hasMessage("%s=%s: %s".formatted(property, value, remedy));
  }
}
