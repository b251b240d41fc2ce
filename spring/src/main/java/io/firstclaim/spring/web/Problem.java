package io.firstclaim.spring.web;

import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Why a request was not done, as RFC 9457 has it. Its texts need no escaping. */
enum Problem {
  MISSING(400, "missing", "Idempotency-Key is missing", "Send one, and the same when you repeat"),
  MALFORMED(
      400,
      "malformed",
      "Idempotency-Key is malformed",
      "Send one header with 1 to 255 printable characters of ASCII, as a quoted string"),
  BUSY(
      409,
      "busy",
      "A request with this Idempotency-Key is under way",
      "Repeat it with the same key after Retry-After"),
  GIVEN_UP(
      410, "given-up", "This Idempotency-Key was given up", "Do not repeat it: ask the operators"),
  LENGTH_REQUIRED(411, "length-required", "The form has no Content-Length", "Send one"),
  TOO_LARGE(413, "too-large", "The body is too large", "Nothing was done"),
  MULTIPART(
      415, "multipart", "Multipart bodies are not taken with an Idempotency-Key", "Send another"),
  OTHER_REQUEST(
      422,
      "other-request",
      "This Idempotency-Key was used for another request",
      "Take a new key for a new request"),
  UNKNOWN(
      503,
      "unknown",
      "It is not known whether the request is done",
      "Repeat it with the same key after Retry-After");

  /** In seconds. Most requests are done by then. */
  private static final int RETRY_AFTER = 1;

  private final int status;
  private final String name;
  private final String title;
  private final String detail;

  Problem(int status, String name, String title, String detail) {
    this.status = status;
    this.name = name;
    this.title = title;
    this.detail = detail;
  }

  /** Answers with it. */
  void answer(HttpServletResponse response) throws IOException {
    byte[] body =
        """
        {"type":"urn:firstclaim:idempotency-key:%s","title":"%s","status":%d,"detail":"%s"}
        """
            .formatted(name, title, status, detail)
            .getBytes(UTF_8);
    response.setStatus(status);
    if (this == BUSY || this == UNKNOWN) {
      response.setIntHeader("Retry-After", RETRY_AFTER);
    }
    response.setContentType("application/problem+json");
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }
}
