package io.firstclaim.lock.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.OneLine;

/** Whatever stands beside a document as its history. */
class HistoryFuzzTest {
  @FuzzTest(maxDuration = "10m")
  void anyText_isAHistory_orSaidNotToBeOne(byte[] bytes) {
    try {
      History history = History.parse(new String(bytes, UTF_8));
      assertThat(History.parse(history.toString())).isEqualTo(history);
      assertThat(history.has(history.latest())).isTrue();
    } catch (IllegalArgumentException e) {
      String message = String.valueOf(e.getMessage());
      assertThat(message).isEqualTo(OneLine.of(message));
    }
  }
}
