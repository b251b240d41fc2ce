package io.firstclaim.lock;

import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;

/** Whatever text is to go into a log, a message or a cause. */
class OneLineFuzzTest {
  @FuzzTest(maxDuration = "10m")
  void anyText_becomesOneLine_ofWhatCanBeSeen(byte[] bytes) {
    requireOneLine(new String(bytes, UTF_8));
    requireOneLine(new String(bytes, UTF_16BE).concat("\ud800"));
  }

  private static void requireOneLine(String text) {
    String line = OneLine.of(text);
    String cut = OneLine.of(text, 40);

    assertThat(line.codePoints()).noneMatch(OneLineFuzzTest::isUnseen);
    assertThat(OneLine.of(line)).isEqualTo(line);
    assertThat(new String(line.getBytes(UTF_8), UTF_8)).isEqualTo(line);
    assertThat(cut.length()).isLessThanOrEqualTo(40 * "\\u{10ffff}".length() + 1);
    assertThat(line).startsWith(cut.endsWith("…") ? cut.substring(0, cut.length() - 1) : cut);
  }

  private static boolean isUnseen(int codePoint) {
    return Character.isISOControl(codePoint)
        || switch (Character.getType(codePoint)) {
          case Character.FORMAT,
              Character.LINE_SEPARATOR,
              Character.PARAGRAPH_SEPARATOR,
              Character.SURROGATE ->
              true;
          default -> false;
        };
  }
}
