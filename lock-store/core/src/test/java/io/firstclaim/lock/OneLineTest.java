package io.firstclaim.lock;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OneLineTest {
  @Test
  void controlCharacters_becomeOneBlank_howeverMany() {
    assertThat(OneLine.of("no\r\n\tanswer\u0000from\u001b[31m it"))
        .isEqualTo("no answer from [31m it");
  }

  @Test
  void faultWithoutMessage_isNull() {
    assertThat(OneLine.of(new IllegalStateException())).isEqualTo("null");
  }
}
