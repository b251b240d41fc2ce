package io.firstclaim.processor.service.admin;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;

/** Whatever ID somebody asks for. */
class IdsFuzzTest {
  @FuzzTest(maxDuration = "10m")
  void anyId_isFoundAgain_asItIsPrintedAndByteForByte(byte[] bytes) {
    if (bytes.length == 0 || bytes.length > RecordId.MAX_BYTES) {
      return;
    }
    RecordId id = RecordId.of(bytes);

    assertThat(Ids.ofText(id.text())).isEqualTo(id);
    assertThat(Ids.inPath("/api/records/" + encoded(id.text().getBytes(UTF_8)))).isEqualTo(id);
    assertThat(Ids.exactly("/api/claims/", "/api/claims/" + encoded(bytes))).isEqualTo(id);
  }

  private static String encoded(byte[] bytes) {
    StringBuilder encoded = new StringBuilder();
    for (byte each : bytes) {
      encoded.append("%%%02X".formatted(each));
    }
    return encoded.toString();
  }

  @FuzzTest(maxDuration = "10m")
  void anyPath_namesAnId_orIsAnsweredInOneLine(byte[] bytes) {
    try {
      RecordId id = Ids.inPath("/api/records/" + new String(bytes, ISO_8859_1));
      assertThat(id.text()).isEqualTo(OneLine.of(id.text()));
    } catch (Problem e) {
      String message = String.valueOf(e.getMessage());
      assertThat(message).isEqualTo(OneLine.of(message));
    }
  }
}
