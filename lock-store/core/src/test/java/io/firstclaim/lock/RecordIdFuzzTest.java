package io.firstclaim.lock;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;

/** Whatever bytes a record brings for an ID, and whatever text somebody asks for one with. */
class RecordIdFuzzTest {
  @FuzzTest(maxDuration = "10m")
  void anyId_isFoundAgainByItsText_whichIsOneLine(byte[] bytes) {
    if (bytes.length == 0 || bytes.length > RecordId.MAX_BYTES) {
      return;
    }
    RecordId id = RecordId.of(bytes);

    assertThat(RecordId.parse(id.text())).isEqualTo(id);
    assertThat(OneLine.of(id.text())).isEqualTo(id.text());
    assertThat(id.headerText()).matches("[!-~]([ -~]*[!-~])?");
    // An ID that looks like the header of another has another header.
    byte[] header = id.headerText().getBytes(US_ASCII);
    if (header.length <= RecordId.MAX_BYTES) {
      RecordId alike = RecordId.of(header);
      assertThat(alike.equals(id)).isEqualTo(alike.headerText().equals(id.headerText()));
    }
  }

  @FuzzTest(maxDuration = "10m")
  void anyText_isThatOfTheIdItIsParsedTo_orOfNone(byte[] bytes) {
    String text = new String(bytes, UTF_8);
    try {
      assertThat(RecordId.parse(text).text()).isEqualTo(text);
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessage("no record ID is printed like this");
    }
  }
}
