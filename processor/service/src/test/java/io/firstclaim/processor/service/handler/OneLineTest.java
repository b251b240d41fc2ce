package io.firstclaim.processor.service.handler;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class OneLineTest {
  @Test
  void printableText_isItself() {
    assertThat(OneLine.of("Größe 😀: \"x\"")).isEqualTo("Größe 😀: \"x\"");
  }

  @Test
  void controls_areEscaped() {
    assertThat(OneLine.of("a\r\nb\u001b[31m\0\u2028\u202e\ud800"))
        .isEqualTo("a\\u{d}\\u{a}b\\u{1b}[31m\\u{0}\\u{2028}\\u{202e}\\u{d800}");
  }

  @Test
  void longText_isCut() {
    assertThat(OneLine.of("😀".repeat(1000))).isEqualTo("😀".repeat(200) + "...");
  }
}
