package io.firstclaim.processor.service.admin;

import io.micronaut.context.annotation.Replaces;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import io.micronaut.http.server.exceptions.JsonExceptionHandler;
import io.micronaut.json.JsonSyntaxException;
import jakarta.inject.Singleton;

/** Says of a request whose body is no JSON what it should be. */
@Singleton
@Replaces(JsonExceptionHandler.class)
final class NoJsonHandler implements ExceptionHandler<JsonSyntaxException, HttpResponse<?>> {
  @Override
  @SuppressWarnings("rawtypes") // the interface has the raw type
  public HttpResponse<?> handle(HttpRequest request, JsonSyntaxException fault) {
    return HttpResponse.badRequest(
        ErrorBodies.error("the body is no JSON: " + UnreadableRequestHandler.OBJECT));
  }
}
