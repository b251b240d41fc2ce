package io.firstclaim.processor.service.handler;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ForwardedHeadersTest {
  private static RecordHeaders headers(String... namesAndValues) {
    RecordHeaders headers = new RecordHeaders();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      headers.add(namesAndValues[i], namesAndValues[i + 1].getBytes(ISO_8859_1));
    }
    return headers;
  }

  @Test
  void noHeaders_areOctets() {
    assertThat(ForwardedHeaders.of(headers()))
        .contains(Map.of("Content-Type", "application/octet-stream"));
  }

  @Test
  void contentType_isTheLastOne_ofAnyCase() {
    assertThat(ForwardedHeaders.of(headers("content-type", "a/b", "CONTENT-TYPE", " text/plain ")))
        .contains(Map.of("Content-Type", "text/plain"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "a/b\r\nX: y", "a/\u0000", "t\u00e9xt/plain", "a/b\t", "\u007f"})
  void illegalContentType_isOctets(String type) {
    assertThat(ForwardedHeaders.of(headers("content-type", type)))
        .contains(Map.of("Content-Type", "application/octet-stream"));
  }

  @Test
  void cloudEventHeader_isForwarded_andNoOther() {
    assertThat(ForwardedHeaders.of(headers("ce_id", "1", "ce_Time", "now", "CE_X", "no", "x", "y")))
        .hasValueSatisfying(
            sent -> assertThat(sent).containsOnlyKeys("ce-id", "ce-Time", "Content-Type"));
  }

  @Test
  void ofOneNameInAnyCase_theLastIsForwarded() {
    assertThat(ForwardedHeaders.of(headers("ce_id", "1", "ce_ID", "2")))
        .hasValueSatisfying(sent -> assertThat(sent).hasSize(2).containsEntry("ce-id", "2"));
  }

  @Test
  void emptyValue_isSentAsAnEmptyOne() {
    assertThat(ForwardedHeaders.of(headers("ce_x", "")))
        .contains(Map.of("ce-x", "", "Content-Type", "application/octet-stream"));
  }

  @Test
  void nullValue_isSkipped() {
    RecordHeaders headers = headers("ce_id", "1");
    headers.add("ce_type", null);
    headers.add("content-type", null);
    assertThat(ForwardedHeaders.of(headers))
        .contains(Map.of("ce-id", "1", "Content-Type", "application/octet-stream"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"ce_", "ce_a b", "ce_a:b", "ce_\r\nX", "ce_\u00e9", "ce_\u0000", "ce_(a)"})
  void nameThatIsNoHeaderName_isSkipped(String name) {
    assertThat(ForwardedHeaders.of(headers(name, "x")))
        .contains(Map.of("Content-Type", "application/octet-stream"));
  }

  @Test
  void value_isEncodedAsCloudEventsSays() {
    assertThat(ForwardedHeaders.encoded("Euro € 😀".getBytes(UTF_8)))
        .isEqualTo("Euro%20%E2%82%AC%20%F0%9F%98%80");
    assertThat(ForwardedHeaders.encoded("\"50%\"\r\n\0".getBytes(UTF_8)))
        .isEqualTo("%2250%25%22%0D%0A%00");
    assertThat(ForwardedHeaders.encoded(new byte[0])).isEmpty();
  }

  @Test
  void distinctBytes_haveDistinctPrintableTexts() {
    Random random = new Random(7);
    Set<String> inputs = new HashSet<>();
    Set<String> texts = new HashSet<>();
    for (int i = 0; i < 50_000; i++) {
      byte[] value = new byte[random.nextInt(4)];
      random.nextBytes(value);
      String text = ForwardedHeaders.encoded(value);
      assertThat(text).matches("[!-~]*");
      inputs.add(new String(value, ISO_8859_1));
      texts.add(text);
    }
    assertThat(texts).hasSameSizeAs(inputs);
  }

  @Test
  void size_isBounded_asItIsSent() {
    String name = "ce_x";
    assertThat(ForwardedHeaders.of(headers(name, "x".repeat(8188)))).isPresent();
    assertThat(ForwardedHeaders.of(headers(name, "x".repeat(8189)))).isEmpty();
    assertThat(ForwardedHeaders.of(headers(name, "\u00ff".repeat(3000)))).isEmpty();
    assertThat(ForwardedHeaders.of(headers("content-type", "x".repeat(9000)))).isEmpty();
    assertThat(ForwardedHeaders.of(headers("ce_" + "x".repeat(9000), ""))).isEmpty();
    assertThat(ForwardedHeaders.of(headers("other", "x".repeat(1 << 20)))).isPresent();
  }

  @Test
  void manyHeaders_areBoundedTogether() {
    RecordHeaders headers = new RecordHeaders();
    for (int i = 0; i < 100_000; i++) {
      headers.add("ce_x" + i, new byte[] {'1'});
    }
    assertThat(ForwardedHeaders.of(headers)).isEmpty();
  }
}
