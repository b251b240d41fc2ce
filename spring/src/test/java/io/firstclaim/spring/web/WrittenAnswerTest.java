package io.firstclaim.spring.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.listener.web.KeptAnswer;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletResponse;

class WrittenAnswerTest {
  @Test
  void heldBackAnswer_isReplayedAsItWas() throws Exception {
    HeldBackAnswer answer = new HeldBackAnswer(new MockHttpServletResponse());
    answer.setStatus(202);
    answer.addHeader("X-Name", "Zoë \"Müller\"");
    answer.addHeader("x-name", "другое");
    answer.addHeader("Set-Cookie", "secret");
    answer.setContentType("text/plain;charset=UTF-8");
    answer.getWriter().write("großer Dank");

    MockHttpServletResponse response = new MockHttpServletResponse();
    WrittenAnswer.replay(KeptAnswer.read(answer.kept(1000)), response);

    assertThat(response.getStatus()).isEqualTo(202);
    assertThat(response.getContentAsByteArray()).isEqualTo("großer Dank".getBytes(UTF_8));
    assertThat(response.getHeaders("X-Name")).containsExactly("Zoë \"Müller\"", "другое");
    assertThat(response.getContentType()).isEqualTo("text/plain;charset=UTF-8");
    assertThat(response.getHeader("Set-Cookie")).isNull();
    assertThat(response.getHeader(KeptAnswer.REPLAYED)).isEqualTo("true");
  }

  @Test
  void resultThatIsNoAnswer_isReplayedAsDone() throws Exception {
    MockHttpServletResponse response = new MockHttpServletResponse();
    WrittenAnswer.replay(KeptAnswer.read("receipt 17"), response);

    assertThat(response.getStatus()).isEqualTo(200);
    assertThat(response.getHeader(KeptAnswer.BODY_OMITTED)).isEqualTo("true");
    assertThat(response.getContentAsByteArray()).isEmpty();
  }
}
