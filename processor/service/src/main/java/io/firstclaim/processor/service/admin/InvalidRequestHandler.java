package io.firstclaim.processor.service.admin;

import io.micronaut.context.annotation.Replaces;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import io.micronaut.validation.exceptions.ConstraintExceptionHandler;
import jakarta.inject.Singleton;
import jakarta.validation.ConstraintViolation;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.Path;
import java.util.stream.Collectors;

/** Says of a request which of its fields are out of bounds, what they have, and the bounds. */
@Singleton
@Replaces(ConstraintExceptionHandler.class)
final class InvalidRequestHandler
    implements ExceptionHandler<ConstraintViolationException, HttpResponse<?>> {
  @Override
  @SuppressWarnings("rawtypes") // the interface has the raw type
  public HttpResponse<?> handle(HttpRequest request, ConstraintViolationException fault) {
    return HttpResponse.badRequest(
        ErrorBodies.error(
            fault.getConstraintViolations().stream()
                .map(InvalidRequestHandler::message)
                .sorted()
                .collect(Collectors.joining("; "))));
  }

  private static String message(ConstraintViolation<?> violation) {
    String field = "the body";
    for (Path.Node node : violation.getPropertyPath()) {
      field = node.getName();
    }
    return Problem.message(field, violation.getInvalidValue(), violation.getMessage());
  }
}
