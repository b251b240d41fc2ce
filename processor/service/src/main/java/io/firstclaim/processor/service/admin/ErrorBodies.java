package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.OneLine;
import io.micronaut.context.annotation.Primary;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.server.exceptions.response.Error;
import io.micronaut.http.server.exceptions.response.ErrorContext;
import io.micronaut.http.server.exceptions.response.ErrorResponseProcessor;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes whatever Micronaut itself finds wrong with a request like all other errors. */
@Singleton
@Primary
final class ErrorBodies implements ErrorResponseProcessor<Map<String, String>> {
  private static final int MAX_SHOWN = 500;

  @Override
  public MutableHttpResponse<Map<String, String>> processResponse(
      ErrorContext context, MutableHttpResponse<?> answer) {
    return answer
        .body(error(message(context, answer)))
        .contentType(MediaType.APPLICATION_JSON_TYPE);
  }

  private static String message(ErrorContext context, MutableHttpResponse<?> answer) {
    if (answer.code() >= HttpStatus.INTERNAL_SERVER_ERROR.getCode()) {
      return "this failed unexpectedly; the log of the instance says more";
    }
    String found =
        context.getErrors().stream().map(Error::getMessage).collect(Collectors.joining("; "));
    return found.isEmpty() ? answer.reason() : found;
  }

  /** The body of an answer that says what is wrong. */
  static Map<String, String> error(String message) {
    return Map.of("error", OneLine.of(message, MAX_SHOWN));
  }
}
