package io.firstclaim.processor.service.security;

import io.micronaut.context.annotation.Replaces;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import io.micronaut.security.authentication.Authentication;
import io.micronaut.security.authentication.AuthorizationException;
import io.micronaut.security.authentication.DefaultAuthorizationExceptionHandler;
import io.micronaut.web.router.RouteAttributes;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Says what was missing: a token, a role, or a token file. */
@Singleton
@Replaces(DefaultAuthorizationExceptionHandler.class)
final class RefusalHandler implements ExceptionHandler<AuthorizationException, HttpResponse<?>> {
  private final AccessPolicy policy;

  RefusalHandler(AccessPolicy policy) {
    this.policy = policy;
  }

  @Override
  @SuppressWarnings("rawtypes") // the interface has the raw type
  public HttpResponse<?> handle(HttpRequest request, AuthorizationException refusal) {
    @Nullable Authentication caller = refusal.getAuthentication();
    boolean isRoute = RouteAttributes.getRouteMatch(request).isPresent();
    Role needed =
        policy.needed(request.getMethod(), request.getPath(), isRoute).orElse(Role.READER);
    if (!policy.hasTokens()) {
      return forbidden(
          caller == null
              ? "without tokens only this machine is answered: give firstclaim.admin.token-file"
              : "without tokens nothing is changed: give firstclaim.admin.token-file");
    }
    return caller == null
        ? HttpResponse.unauthorized()
            .header(HttpHeaders.WWW_AUTHENTICATE, "Bearer realm=\"firstclaim\"")
            .body(
                error(
                    "a token is needed: send the header Authorization: Bearer TOKEN, with a token"
                        + " whose hash is in firstclaim.admin.token-file"))
        : forbidden(
            "%s is a %s; this needs the token of %s"
                .formatted(
                    caller.getName(),
                    Objects.requireNonNullElse(AccessPolicy.roleOf(caller.getRoles()), Role.READER)
                        .text(),
                    needed == Role.OPERATOR ? "an operator" : "a " + needed.text()));
  }

  private static HttpResponse<?> forbidden(String why) {
    return HttpResponse.status(HttpStatus.FORBIDDEN).body(error(why));
  }

  private static Map<String, String> error(String why) {
    return Map.of("error", why);
  }
}
