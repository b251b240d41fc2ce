package io.firstclaim.processor.service.log;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.processor.service.config.WrongSettingException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogSettingsTest {

  @Test
  void settingsThatAreNotGiven_areRight() {
    assertThatCode(() -> LogSettings.check(Map.of())).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource({"plain,INFO", "json,debug", "plain,OFF"})
  void knownFormatAndLevel_areRight(String format, String level) {
    assertThatCode(
            () ->
                LogSettings.check(
                    Map.of("FIRSTCLAIM_LOG_FORMAT", format, "FIRSTCLAIM_LOG_LEVEL", level)))
        .doesNotThrowAnyException();
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
    assertThatThrownBy(() -> LogSettings.check(Map.of(property, value)))
        .isInstanceOf(WrongSettingException.class)
        .hasMessage("%s=%s: %s".formatted(property, value, remedy));
  }
}
