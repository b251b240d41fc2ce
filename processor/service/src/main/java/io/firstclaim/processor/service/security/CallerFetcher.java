package io.firstclaim.processor.service.security;

import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.http.HttpRequest;
import io.micronaut.security.authentication.Authentication;
import io.micronaut.security.filters.AuthenticationFetcher;
import jakarta.inject.Singleton;
import org.reactivestreams.Publisher;

/** Tells Micronaut who asks. */
@Singleton
final class CallerFetcher implements AuthenticationFetcher<HttpRequest<?>> {
  private final AccessPolicy policy;

  CallerFetcher(AccessPolicy policy) {
    this.policy = policy;
  }

  @Override
  public Publisher<Authentication> fetchAuthentication(HttpRequest<?> request) {
    return policy
        .callerOf(request)
        .map(caller -> Authentication.build(caller.name(), caller.role().texts()))
        .<Publisher<Authentication>>map(Publishers::just)
        .orElseGet(Publishers::empty);
  }
}
