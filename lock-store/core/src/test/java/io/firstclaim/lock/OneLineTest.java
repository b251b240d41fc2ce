package io.firstclaim.lock;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OneLineTest {
  @Test
  void printableText_isItself() {
    assertThat(OneLine.of("Größe 😀: \"x\"")).isEqualTo("Größe 😀: \"x\"");
  }

  @Test
  void controlsInARow_areOneBlank() {
    assertThat(OneLine.of("a\r\n\tb\u001b[31m\0c")).isEqualTo("a b [31m c");
  }

  @Test
  void whatCannotBeSeen_orTurnsTheOrder_isEscaped() {
    assertThat(OneLine.of("a\u2028\u202e\ud800b")).isEqualTo("a\\u{2028}\\u{202e}\\u{d800}b");
  }

  @Test
  void longText_isCut() {
    assertThat(OneLine.of("😀".repeat(1000), 200)).isEqualTo("😀".repeat(200) + "…");
    assertThat(OneLine.of("😀".repeat(200), 200)).isEqualTo("😀".repeat(200));
  }

  @Test
  void faultWithoutMessage_isToldAsSuch() {
    assertThat(OneLine.of(new IllegalStateException())).isEqualTo("null");
  }
}
