package io.firstclaim.processor.engine.handler;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CauseTest {
  @Test
  void printableText_staysAsItIs() {
    assertThat(Cause.of("HTTP 404 from http://x/äöü 漢字 🎉"))
        .isEqualTo("HTTP 404 from http://x/äöü 漢字 🎉");
  }

  @Test
  void controlsLineBreaksAndHalfCharacters_areReplaced() {
    assertThat(Cause.of("a\r\nb\u0000c\u2028d\ud800e\u0085f"))
        .isEqualTo("a b c\\u{2028}d\\u{d800}e f");
  }

  @Test
  void cause_isBounded_andNoCharacterIsCutInHalf() {
    String cause = Cause.of("🎉".repeat(5000));

    assertThat(cause.codePointCount(0, cause.length())).isEqualTo(1001);
    assertThat(cause).doesNotContain("?").endsWith("🎉…");
  }

  @Test
  void nothing_isNamed() {
    assertThat(Cause.of((String) null)).isEqualTo("no cause given");
    assertThat(Cause.of(" \n ")).isEqualTo("no cause given");
  }

  @Test
  void throwable_isItsClassAndMessage() {
    assertThat(Cause.of(new IllegalStateException("a\nb")))
        .isEqualTo("java.lang.IllegalStateException: a b");
  }
}
