package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.OneLine;
import io.micronaut.http.HttpStatus;
import org.jspecify.annotations.Nullable;

/** A request is not answered as it was meant. The message is for people: what, and what helps. */
public final class Problem extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final int MAX_SHOWN = 100;

  private final HttpStatus status;

  public Problem(HttpStatus status, String message) {
    super(message);
    this.status = status;
  }

  /** The request itself is wrong. */
  public static Problem wrong(String message) {
    return new Problem(HttpStatus.BAD_REQUEST, message);
  }

  /**
   * A field or parameter of the request is wrong.
   *
   * @param given what it has; null if it is missing
   * @param remedy what would be right, such as {@code give a number from 1 to 10}
   */
  public static Problem wrong(String field, @Nullable Object given, String remedy) {
    return wrong(message(field, given, remedy));
  }

  /** The message of {@link #wrong(String, Object, String)}: what was given is cut and escaped. */
  public static String message(String field, @Nullable Object given, String remedy) {
    String shown =
        switch (given) {
          case null -> "";
          case String text -> "=\"" + OneLine.of(text, MAX_SHOWN) + '"';
          default -> "=" + OneLine.of(given.toString(), MAX_SHOWN);
        };
    return OneLine.of(field, MAX_SHOWN) + shown + ": " + remedy;
  }

  /** There is no such thing. */
  public static Problem missing(String message) {
    return new Problem(HttpStatus.NOT_FOUND, message);
  }

  /** The state of things does not allow it. */
  public static Problem conflict(String message) {
    return new Problem(HttpStatus.CONFLICT, message);
  }

  /** It cannot be said or done now; asking again later may help. */
  public static Problem notNow(String message) {
    return new Problem(HttpStatus.SERVICE_UNAVAILABLE, message);
  }

  HttpStatus status() {
    return status;
  }
}
