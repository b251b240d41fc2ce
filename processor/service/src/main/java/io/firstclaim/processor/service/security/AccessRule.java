package io.firstclaim.processor.service.security;

import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.core.order.Ordered;
import io.micronaut.http.HttpRequest;
import io.micronaut.security.authentication.Authentication;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.rules.SecurityRuleResult;
import io.micronaut.web.router.RouteAttributes;
import jakarta.inject.Singleton;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/**
 * Applies the {@link AccessPolicy} to every request, before any other rule, and leaves none open.
 */
@Singleton
final class AccessRule implements SecurityRule<HttpRequest<?>> {
  private final AccessPolicy policy;

  AccessRule(AccessPolicy policy) {
    this.policy = policy;
  }

  @Override
  public int getOrder() {
    return Ordered.HIGHEST_PRECEDENCE;
  }

  @Override
  public Publisher<SecurityRuleResult> check(
      @Nullable HttpRequest<?> request, @Nullable Authentication caller) {
    boolean allowed =
        request != null
            && AccessPolicy.allows(
                policy.needed(
                    request.getMethod(),
                    request.getPath(),
                    RouteAttributes.getRouteMatch(request).isPresent()),
                caller == null ? null : roleOf(caller));
    return Publishers.just(allowed ? SecurityRuleResult.ALLOWED : SecurityRuleResult.REJECTED);
  }

  private static @Nullable Role roleOf(Authentication caller) {
    return AccessPolicy.roleOf(caller.getRoles());
  }
}
