package io.firstclaim.listener.web;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Why a request was not done, as RFC 9457 has it. Its texts need no escaping. */
public enum RequestProblem {
  /** There is no key where one is required. */
  MISSING(400, "missing", "Idempotency-Key is missing", "Send one, and the same when you repeat"),
  /** What was sent is no key. */
  MALFORMED(
      400,
      "malformed",
      "Idempotency-Key is malformed",
      "Send one header with 1 to 255 printable characters of ASCII, as a quoted string"),
  /** Another request with the key is under way. */
  BUSY(
      409,
      "busy",
      "A request with this Idempotency-Key is under way",
      "Repeat it with the same key after Retry-After"),
  /** An operator gave the key up. */
  GIVEN_UP(
      410, "given-up", "This Idempotency-Key was given up", "Do not repeat it: ask the operators"),
  /** A form's length must be known before it is read. */
  LENGTH_REQUIRED(411, "length-required", "The form has no Content-Length", "Send one"),
  /** The body is larger than is taken. */
  TOO_LARGE(413, "too-large", "The body is too large", "Nothing was done"),
  /** The body is made of parts. */
  MULTIPART(
      415, "multipart", "Multipart bodies are not taken with an Idempotency-Key", "Send another"),
  /** The key was used with another path, query or body. */
  OTHER_REQUEST(
      422,
      "other-request",
      "This Idempotency-Key was used for another request",
      "Take a new key for a new request"),
  /** The store does not say whether the request is done. */
  UNKNOWN(
      503,
      "unknown",
      "It is not known whether the request is done",
      "Repeat it with the same key after Retry-After");

  /** The type of its body. */
  public static final String MEDIA_TYPE = "application/problem+json";

  /** The value of {@code Retry-After}, in seconds. Most requests are done by then. */
  public static final int RETRY_AFTER = 1;

  private final int status;
  private final String type;
  private final String title;
  private final String detail;

  RequestProblem(int status, String type, String title, String detail) {
    this.status = status;
    this.type = type;
    this.title = title;
    this.detail = detail;
  }

  /** The answer's status. */
  public int status() {
    return status;
  }

  /** Whether the answer has a {@code Retry-After}. */
  public boolean isWorthRepeating() {
    return this == BUSY || this == UNKNOWN;
  }

  /** The answer's body. */
  public byte[] body() {
    return """
        {"type":"urn:firstclaim:idempotency-key:%s","title":"%s","status":%d,"detail":"%s"}
        """
        .formatted(type, title, status, detail)
        .getBytes(UTF_8);
  }
}
