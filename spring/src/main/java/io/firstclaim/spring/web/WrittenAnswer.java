package io.firstclaim.spring.web;

import io.firstclaim.listener.web.KeptAnswer;
import io.firstclaim.listener.web.RequestProblem;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.http.HttpHeaders;

/** What a client is answered with instead of by its handler. */
final class WrittenAnswer {
  private WrittenAnswer() {}

  /** Says why the request was not done. */
  static void refuse(RequestProblem problem, HttpServletResponse response) throws IOException {
    response.setStatus(problem.status());
    if (problem.isWorthRepeating()) {
      response.setIntHeader("Retry-After", RequestProblem.RETRY_AFTER);
    }
    response.setContentType(RequestProblem.MEDIA_TYPE);
    write(problem.body(), response);
  }

  /**
   * Gives a kept answer to a client, which is told that it is not the first to have it. Its headers
   * replace those that earlier filters have set, but for {@code Vary}, which has what both say.
   */
  static void replay(KeptAnswer answer, HttpServletResponse response) throws IOException {
    response.setStatus(answer.status());
    Set<String> met = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    for (KeptAnswer.Header header : answer.headers()) {
      if (header.name().equalsIgnoreCase(HttpHeaders.VARY)) {
        if (!response.getHeaders(HttpHeaders.VARY).contains(header.value())) {
          response.addHeader(HttpHeaders.VARY, header.value());
        }
      } else if (met.add(header.name())) {
        response.setHeader(header.name(), header.value());
      } else {
        response.addHeader(header.name(), header.value());
      }
    }
    response.setHeader(KeptAnswer.REPLAYED, "true");
    byte[] body = answer.body();
    if (body == null) {
      response.setHeader(KeptAnswer.BODY_OMITTED, "true");
    } else if (body.length > 0) {
      write(body, response);
    }
  }

  private static void write(byte[] body, HttpServletResponse response) throws IOException {
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }
}
