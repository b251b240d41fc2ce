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

  /** A response that filters before the handler have set headers of. */
  private static MockHttpServletResponse filtered() {
    MockHttpServletResponse response = new MockHttpServletResponse();
    response.setHeader("X-Frame-Options", "DENY");
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("X-Taken-Away", "soon");
    response.addHeader("Vary", "Accept-Encoding");
    response.setCharacterEncoding("UTF-8");
    return response;
  }

  @Test
  void headersOfEarlierFilters_areSeenByTheHandler() {
    HeldBackAnswer answer = new HeldBackAnswer(filtered());

    assertThat(answer.containsHeader("x-frame-options")).isTrue();
    assertThat(answer.getHeader("X-Frame-Options")).isEqualTo("DENY");
    assertThat(answer.getHeaderNames()).contains("X-Frame-Options", "Vary");
    assertThat(answer.getCharacterEncoding()).isEqualTo("UTF-8");

    answer.addHeader("Vary", "Origin");
    answer.setHeader("Cache-Control", "max-age=60");
    answer.setHeader("X-Taken-Away", null);

    assertThat(answer.getHeaders("vary")).containsExactly("Accept-Encoding", "Origin");
    assertThat(answer.getHeaders("Cache-Control")).containsExactly("max-age=60");
    assertThat(answer.getHeader("X-Taken-Away")).isNull();
    assertThat(answer.getHeaderNames()).doesNotContain("X-Taken-Away").doesNotHaveDuplicates();
  }

  @Test
  void headersOfTheHandler_replaceThoseOfFilters_orJoinThem_asItSays() throws Exception {
    MockHttpServletResponse response = filtered();
    HeldBackAnswer answer = new HeldBackAnswer(response);
    answer.addHeader("Vary", "Origin");
    answer.setHeader("cache-control", "max-age=60");
    answer.addHeader("Cache-Control", "private");
    answer.setHeader("X-Taken-Away", null);
    answer.getWriter().write("großer Dank");
    answer.passOn();

    assertThat(response.getHeaders("Vary")).containsExactly("Accept-Encoding", "Origin");
    assertThat(response.getHeaders("Cache-Control")).containsExactly("max-age=60", "private");
    assertThat(response.getHeaders("X-Frame-Options")).containsExactly("DENY");
    assertThat(response.containsHeader("X-Taken-Away")).isFalse();
    assertThat(response.getContentAsByteArray()).isEqualTo("großer Dank".getBytes(UTF_8));
  }

  /** The dispatcher does so before it resolves an exception. */
  @Test
  void contentTypeOfAFilter_thatIsTakenAway_isGone() throws Exception {
    MockHttpServletResponse response = filtered();
    response.setContentType("text/html");
    HeldBackAnswer answer = new HeldBackAnswer(response);
    assertThat(answer.getContentType()).startsWith("text/html");

    answer.setHeader("Content-Type", null);
    assertThat(answer.getContentType()).isNull();
    answer.passOn();

    assertThat(response.getContentType()).isNull();
  }

  @Test
  void replay_isWithTheHeadersOfItsOwnFilters_andDoublesNone() throws Exception {
    HeldBackAnswer answer = new HeldBackAnswer(filtered());
    answer.addHeader("Vary", "Origin");
    answer.setHeader("Cache-Control", "max-age=60");
    answer.addHeader("X-Part", "one");
    answer.addHeader("X-Part", "two");
    answer.setHeader("Access-Control-Allow-Origin", "https://first.example");
    KeptAnswer kept = KeptAnswer.read(answer.kept(1000));

    MockHttpServletResponse response = filtered();
    response.addHeader("Vary", "Origin");
    response.setHeader("Access-Control-Allow-Origin", "https://second.example");
    WrittenAnswer.replay(kept, response);

    assertThat(response.getHeaders("Vary")).containsExactly("Accept-Encoding", "Origin");
    assertThat(response.getHeaders("Cache-Control")).containsExactly("max-age=60");
    assertThat(response.getHeaders("X-Part")).containsExactly("one", "two");
    assertThat(response.getHeaders("Access-Control-Allow-Origin"))
        .containsExactly("https://second.example");
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
