package io.firstclaim.spring.web;

import io.firstclaim.listener.web.KeptAnswer;
import io.firstclaim.listener.web.RequestProblem;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

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

  /** Gives a kept answer to a client, which is told that it is not the first to have it. */
  static void replay(KeptAnswer answer, HttpServletResponse response) throws IOException {
    response.setStatus(answer.status());
    answer.headers().forEach(header -> response.addHeader(header.name(), header.value()));
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
