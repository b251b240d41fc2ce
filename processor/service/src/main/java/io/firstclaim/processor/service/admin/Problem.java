package io.firstclaim.processor.service.admin;

import io.micronaut.http.HttpStatus;

/** A request is not answered as it was meant. The message is for people: what, and what helps. */
final class Problem extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final HttpStatus status;

  Problem(HttpStatus status, String message) {
    super(message);
    this.status = status;
  }

  /** The request itself is wrong. */
  static Problem wrong(String message) {
    return new Problem(HttpStatus.BAD_REQUEST, message);
  }

  /** There is no such thing. */
  static Problem missing(String message) {
    return new Problem(HttpStatus.NOT_FOUND, message);
  }

  /** The state of things does not allow it. */
  static Problem conflict(String message) {
    return new Problem(HttpStatus.CONFLICT, message);
  }

  /** It cannot be said or done now; asking again later may help. */
  static Problem notNow(String message) {
    return new Problem(HttpStatus.SERVICE_UNAVAILABLE, message);
  }

  HttpStatus status() {
    return status;
  }
}
