package io.firstclaim.processor.engine.setting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {
  private final Catalog catalog = new Catalog();

  private final Setting<String> name =
      catalog.required("its.name", Syntax.text("[a-z]+", "give letters"), "name it", "a name");

  private final Setting<Integer> count =
      catalog.withDefault("its.count", Syntax.COUNT, 3, "a count");

  private final Setting<String> twice =
      catalog.derived("its.twice", Syntax.TEXT, "twice", all -> all.get(name) + all.get(name), "x");

  private static Settings read(Map<String, String> texts) {
    return Settings.of(name -> Optional.ofNullable(texts.get(name)));
  }

  @Test
  void setting_isDeclaredOnce_andReadFromTextOrSetAsAValue() {
    Settings asText = read(Map.of("its.name", " ann ", "its.count", "7"));
    Settings asValues = Settings.none();
    asValues.set(name, "ann");
    asValues.set(count, 7);

    for (Settings given : List.of(asText, asValues)) {
      assertThat(given.get(name)).isEqualTo("ann");
      assertThat(given.get(count)).isEqualTo(7);
      assertThat(given.get(twice)).isEqualTo("annann");
      assertThat(given.inForce())
          .isEqualTo(Map.of("its.name", "ann", "its.count", "7", "its.twice", "annann"));
    }
    assertThat(catalog.all())
        .extracting(Setting::name)
        .containsExactly("its.name", "its.count", "its.twice");
    assertThat(catalog.all())
        .extracting(Setting::otherwise)
        .containsExactly("required", "`3`", "twice");
  }

  @Test
  void wrongSettings_areAllTold_andWhatFollowsFromThemIsNot() {
    Settings given = read(Map.of("its.name", "Ann", "its.count", "0"));

    assertThat(given.areRight(name, count, twice)).isFalse();
    assertThatThrownBy(given::requireRight)
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage("its.name=Ann: give letters\nits.count=0: give a number from 1 to 1000000");
  }

  @Test
  void wrongValue_isToldLikeWrongText() {
    Settings given = Settings.none();
    given.set(name, "Ann");

    assertThat(given.find(name)).isEmpty();
    assertThatThrownBy(given::requireRight).hasMessage("its.name=Ann: give letters");
  }

  @Test
  void requiredSetting_isMissedWhenItIsAskedFor() {
    Settings given = read(Map.of("its.name", " "));

    given.requireRight();
    assertThat(given.find(name)).isEmpty();
    assertThatThrownBy(given::requireRight).hasMessage("its.name is not set: name it");
  }

  @Test
  void settingThatNobodyAskedFor_isNotUsed_andNeverWrong() {
    Settings given = read(Map.of("its.count", "many"));

    assertThat(given.isGiven(count)).isTrue();
    assertThat(given.isUsed(count)).isFalse();
    given.requireRight();
  }

  @Test
  void settingsThatAreRightByThemselves_mayBeWrongTogether() {
    Settings given = read(Map.of("its.name", "ann"));

    given.require(name, it -> it.length() < given.get(count), "give fewer letters");

    assertThat(given.find(name)).isEmpty();
    assertThatThrownBy(given::requireRight).hasMessage("its.name=ann: give fewer letters");
  }

  @Test
  void secret_isInNoMessage_andNotShown() {
    Setting<String> secret =
        catalog.required("its.password", Syntax.text("[a-z]+", "give letters"), "", "");
    Settings wrong = read(Map.of("its.password", "S3CRET"));
    Settings right = read(Map.of("its.password", "hush"));

    assertThat(wrong.find(secret)).isEmpty();
    assertThatThrownBy(wrong::requireRight).message().doesNotContain("S3CRET");
    assertThat(right.find(secret)).contains("hush");
    assertThat(right.inForce()).isEqualTo(Map.of("its.password", "(hidden)"));
  }

  @ParameterizedTest
  @CsvSource({
    "500ms, PT0.5S, 500ms",
    "90s, PT1M30S, 90s",
    "60s, PT1M, 1m",
    "24h, P1D, 1d",
    "8d, P8D, 8d",
    "0s, PT0S, 0s",
    "PT90S, PT1M30S, 90s",
    "1500us, PT0.0015S, PT0.0015S"
  })
  void duration_isRead_andWrittenInTheLargestUnitThatFits(
      String text, Duration duration, String written) {
    assertThat(Syntax.DURATION.parse(text)).isEqualTo(duration);
    assertThat(Syntax.DURATION.text(duration)).isEqualTo(written);
    assertThat(Syntax.DURATION.parse(written)).isEqualTo(duration);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "soon",
        "30",
        "-1s",
        "PT-1S",
        "1000000d",
        "99999999999999999999s",
        "999999999999999999d",
        "1 s"
      })
  void whatIsNoDuration_isRefused(String text) {
    assertThatThrownBy(() -> Syntax.DURATION.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("give a duration such as 500ms, 30s, 5m, 12h or 8d");
  }
}
