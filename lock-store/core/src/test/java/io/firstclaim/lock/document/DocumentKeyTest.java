package io.firstclaim.lock.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DocumentKeyTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "a b", "a\nb", "a\u0000", "\u00e9", "a%2fb", "a\\b", "a?b", "a#b", "a:b", "", "/", "/a",
        "a/", "a//b", ".", "..", "a/../b", "../a", "a/.."
      })
  void otherNames_areNoKeys(String name) {
    assertThatThrownBy(() -> DocumentKey.of(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("a document key has ")
        .message()
        .doesNotContain("\n", "\u0000");
  }

  @Test
  void key_has512Characters() {
    assertThat(DocumentKey.of("x".repeat(512))).hasToString("x".repeat(512));
    assertThatThrownBy(() -> DocumentKey.of("x".repeat(513)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
