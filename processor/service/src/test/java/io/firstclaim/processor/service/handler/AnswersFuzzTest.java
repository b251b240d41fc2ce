package io.firstclaim.processor.service.handler;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.header.internals.RecordHeaders;

/** Whatever a service answers, and whatever of a record is sent to it. */
class AnswersFuzzTest {
  private static final Instant NOW = Instant.parse("2100-01-01T00:00:00Z");

  @FuzzTest(maxDuration = "10m")
  void anyRetryAfter_isAWaitWithinBounds_orNone(byte[] header) {
    Optional<Duration> wait = RetryAfter.parse(new String(header, ISO_8859_1), NOW);

    wait.ifPresent(it -> assertThat(it).isPositive().isLessThanOrEqualTo(RetryAfter.MAX));
  }

  @FuzzTest(maxDuration = "10m")
  void anyBody_beginsInOneLine(FuzzedDataProvider data) {
    AnswerBody body = new AnswerBody();
    while (data.remainingBytes() > 0) {
      body.onNext(
          List.of(
              ByteBuffer.wrap(data.consumeBytes(data.consumeInt(0, 300))),
              ByteBuffer.wrap(data.consumeBytes(3))));
    }

    String beginning = body.beginning();
    assertThat(beginning).isEqualTo(OneLine.of(beginning)).isEqualTo(beginning.strip());
    assertThat(beginning.length()).isLessThanOrEqualTo(200 * "\\u{10ffff}".length());
  }

  @FuzzTest(maxDuration = "10m")
  void anyHeaders_areSentAsLegalOnes_orNotAtAll(FuzzedDataProvider data) {
    RecordHeaders headers = new RecordHeaders();
    while (data.remainingBytes() > 0) {
      String name = data.consumeBoolean() ? "ce_" + data.consumeString(20) : data.consumeString(20);
      headers.add(data.consumeBoolean() ? "Content-Type" : name, data.consumeBytes(100));
    }

    Optional<Map<String, String>> sent = ForwardedHeaders.of(headers);

    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost"));
    sent.ifPresent(
        names ->
            names.forEach(
                (name, value) -> {
                  HttpRequest.Builder _ = request.setHeader(name, value);
                  assertThat(value)
                      .matches(name.startsWith("ce-") ? "[!-~]*" : "[!-~]([ -~]*[!-~])?");
                }));
  }

  @FuzzTest(maxDuration = "10m")
  void anyResource_isSentAsALegalHeader_fromWhichItIsFoundAgain(byte[] bytes) {
    if (bytes.length == 0 || bytes.length > RecordId.MAX_BYTES) {
      return;
    }
    RecordId id = RecordId.of(bytes);
    String header = ResourceTokens.header(Map.of(id, 7L)).orElseThrow();

    assertThat(header).matches("[!-~]+=7");
    String key = header.substring(0, header.indexOf('='));
    assertThat(
            new String(
                URLDecoder.decode(key.replace("+", "%2B"), ISO_8859_1).getBytes(ISO_8859_1),
                ISO_8859_1))
        .isEqualTo(new String(bytes, ISO_8859_1));
  }
}
