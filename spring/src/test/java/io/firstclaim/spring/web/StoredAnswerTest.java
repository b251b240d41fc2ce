package io.firstclaim.spring.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.web.MockHttpServletResponse;

class StoredAnswerTest {
  private static HeldBackAnswer answer() {
    return new HeldBackAnswer(new MockHttpServletResponse());
  }

  @Test
  void storedAnswer_isReadAsItWas() throws Exception {
    HeldBackAnswer answer = answer();
    answer.setStatus(202);
    answer.addHeader("X-Name", "Zoë \"Müller\"");
    answer.addHeader("x-name", "другое");
    answer.addHeader("Date", "today");
    answer.addHeader("Set-Cookie", "secret");
    answer.addHeader("Content-Length", "4711");
    answer.setContentType("text/plain;charset=UTF-8");
    answer.getWriter().write("großer Dank");

    String text = StoredAnswer.write(answer, 1000);
    StoredAnswer read = StoredAnswer.read(text);

    assertThat(text).isASCII();
    assertThat(read.status()).isEqualTo(202);
    assertThat(read.body()).isEqualTo("großer Dank".getBytes(UTF_8));
    assertThat(read.headers())
        .containsExactlyInAnyOrder(
            new StoredAnswer.Header("X-Name", "Zoë \"Müller\""),
            new StoredAnswer.Header("X-Name", "другое"),
            new StoredAnswer.Header("Content-Type", "text/plain;charset=UTF-8"));
  }

  @Test
  void answerThatIsTooLarge_losesItsBody_thenItsHeaders_neverItsStatus() throws Exception {
    HeldBackAnswer answer = answer();
    answer.setStatus(201);
    answer.addHeader("Location", "/payments/1");
    answer.addHeader("Content-Language", "de");
    answer.getOutputStream().write(new byte[1000]);
    assertThat(StoredAnswer.read(StoredAnswer.write(answer, 2000)).body()).hasSize(1000);

    StoredAnswer headless = StoredAnswer.read(StoredAnswer.write(answer, 1000));
    assertThat(headless.body()).isNull();
    assertThat(headless.headers())
        .isEqualTo(List.of(new StoredAnswer.Header("Location", "/payments/1")));

    answer.addHeader("X-Large", "x".repeat(1000));
    StoredAnswer bare = StoredAnswer.read(StoredAnswer.write(answer, 1000));
    assertThat(bare.status()).isEqualTo(201);
    assertThat(bare.headers()).isEmpty();
    assertThat(bare.body()).isNull();
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "receipt 17", "{", "[]", "{\"status\":\"x\"}", "{\"body\":\"%\"}"})
  void resultThatIsNoAnswer_isStillDone(@Nullable String text) throws Exception {
    MockHttpServletResponse response = new MockHttpServletResponse();
    StoredAnswer.read(text).replay(response);

    assertThat(response.getStatus()).isEqualTo(200);
    assertThat(response.getHeader(StoredAnswer.BODY_OMITTED)).isEqualTo("true");
    assertThat(response.getContentAsByteArray()).isEmpty();
  }
}
