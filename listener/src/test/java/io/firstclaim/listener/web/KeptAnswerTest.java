package io.firstclaim.listener.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeptAnswerTest {
  private static KeptAnswer.Header header(String name, String value) {
    return new KeptAnswer.Header(name, value);
  }

  @Test
  void keptAnswer_isReadAsItWas_butWhatIsForOneReaderOrMomentOnly() throws Exception {
    String text =
        KeptAnswer.write(
            202,
            List.of(
                header("X-Name", "Zoë \"Müller\""),
                header("X-Name", "другое"),
                header("Date", "today"),
                header("Set-Cookie", "secret"),
                header("set-cookie2", "secret"),
                header("Access-Control-Allow-Origin", "https://one.example"),
                header("Transfer-Encoding", "chunked"),
                header("Content-Length", "4711"),
                header("Content-Type", "text/plain;charset=UTF-8")),
            "großer Dank".getBytes(UTF_8),
            1000);
    KeptAnswer read = KeptAnswer.read(text);

    assertThat(text).isASCII();
    assertThat(read.status()).isEqualTo(202);
    assertThat(read.body()).isEqualTo("großer Dank".getBytes(UTF_8));
    assertThat(read.headers())
        .containsExactly(
            header("X-Name", "Zoë \"Müller\""),
            header("X-Name", "другое"),
            header("Content-Type", "text/plain;charset=UTF-8"));
  }

  @Test
  void whatAnEarlierBuildHasKept_isReadWithoutWhatIsForOneOriginOnly() {
    KeptAnswer read =
        KeptAnswer.read(
            "{\"status\":201,\"headers\":{\"Access-Control-Allow-Origin\":\"https://a\",\"X\":\"1\"}}");

    assertThat(read.status()).isEqualTo(201);
    assertThat(read.headers()).containsExactly(header("X", "1"));
  }

  @Test
  void answerThatIsTooLarge_losesItsBody_thenItsHeaders_neverItsStatus() throws Exception {
    List<KeptAnswer.Header> headers =
        List.of(header("Location", "/payments/1"), header("Content-Language", "de"));
    byte[] body = new byte[1000];
    assertThat(KeptAnswer.read(KeptAnswer.write(201, headers, body, 2000)).body()).hasSize(1000);

    KeptAnswer headless = KeptAnswer.read(KeptAnswer.write(201, headers, body, 1000));
    assertThat(headless.body()).isNull();
    assertThat(headless.headers()).containsExactly(header("Location", "/payments/1"));

    List<KeptAnswer.Header> large = List.of(header("X-Large", "x".repeat(1000)));
    KeptAnswer bare = KeptAnswer.read(KeptAnswer.write(201, large, body, 1000));
    assertThat(bare.status()).isEqualTo(201);
    assertThat(bare.headers()).isEmpty();
    assertThat(bare.body()).isNull();
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "receipt 17", "{", "[]", "{\"status\":\"x\"}", "{\"body\":\"%\"}"})
  void resultThatIsNoAnswer_isStillDone(@Nullable String text) {
    KeptAnswer read = KeptAnswer.read(text);

    assertThat(read.status()).isEqualTo(200);
    assertThat(read.headers()).isEmpty();
    assertThat(read.body()).isNull();
  }
}
