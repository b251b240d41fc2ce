package io.firstclaim.listener.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SentKeyTest {
  @Test
  void key_isTheSame_withQuotesAndWithout() {
    SentKey key = new SentKey.Present("8e03978e");
    assertThat(SentKey.read(List.of("\"8e03978e\""))).isEqualTo(key);
    assertThat(SentKey.read(List.of(" 8e03978e "))).isEqualTo(key);
    assertThat(SentKey.read(List.of("\"a \\\"b\\\\\""))).isEqualTo(new SentKey.Present("a \"b\\"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "\"\"", "\"a", "a\"b", "a b", "a,b", "\"a\\b\"", "\"a\\", "\"a\"; x=1", "ä"})
  void whatIsNoKey_isNotGuessedAt(String value) {
    assertThat(SentKey.read(List.of(value))).isEqualTo(new SentKey.Malformed());
  }

  @Test
  void keyThatIsAbsent_sentTwice_orTooLong_isToldApart() {
    assertThat(SentKey.read(List.of())).isEqualTo(new SentKey.Absent());
    assertThat(SentKey.read(List.of("a", "a"))).isEqualTo(new SentKey.Malformed());
    assertThat(SentKey.read(List.of("k".repeat(256)))).isEqualTo(new SentKey.Malformed());
    assertThat(SentKey.read(List.of("k".repeat(255)))).isInstanceOf(SentKey.Present.class);
  }
}
