package io.firstclaim.processor.engine.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordPositionTest {
  @Test
  void text_isReadBack() {
    RecordPosition position =
        new RecordPosition("orders.v1", 12, 1L << 40, Instant.ofEpochMilli(-1));

    assertThat(position.text()).isEqualTo("orders.v1/12/1099511627776@-1");
    assertThat(RecordPosition.parse(position.text())).contains(position);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "shipped",
        "orders/1/2",
        "orders/-1/2@3",
        "orders/1/2@",
        "orders/99999999999/2@3",
        "a b/1/2@3",
        "orders/1/9999999999999999999@3",
        "orders/1/2@3\n"
      })
  void otherText_isNoPosition(String text) {
    assertThat(RecordPosition.parse(text)).isEmpty();
  }
}
