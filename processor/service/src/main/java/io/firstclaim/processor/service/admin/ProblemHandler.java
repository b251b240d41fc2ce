package io.firstclaim.processor.service.admin;

import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import jakarta.inject.Singleton;

/** Answers with a problem's status and message. */
@Singleton
final class ProblemHandler implements ExceptionHandler<Problem, HttpResponse<?>> {
  @Override
  @SuppressWarnings("rawtypes") // the interface has the raw type
  public HttpResponse<?> handle(HttpRequest request, Problem problem) {
    return HttpResponse.status(problem.status())
        .body(ErrorBodies.error(String.valueOf(problem.getMessage())));
  }
}
