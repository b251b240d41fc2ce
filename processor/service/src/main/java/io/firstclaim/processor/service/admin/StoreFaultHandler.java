package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.UnreadableClaimException;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import jakarta.inject.Singleton;

/** Says that the lock store does not answer, does not permit it, or has something unreadable. */
@Singleton
final class StoreFaultHandler implements ExceptionHandler<StoreException, HttpResponse<?>> {
  @Override
  @SuppressWarnings("rawtypes") // the interface has the raw type
  public HttpResponse<?> handle(HttpRequest request, StoreException fault) {
    HttpStatus status =
        fault instanceof UnreadableClaimException
            ? HttpStatus.CONFLICT
            : HttpStatus.SERVICE_UNAVAILABLE;
    return HttpResponse.status(status)
        .headers(headers -> headers.add(HttpHeaders.RETRY_AFTER, "1"))
        .body(ErrorBodies.error("the lock store: " + fault.getMessage()));
  }
}
