package io.firstclaim.micronaut.config;

import io.firstclaim.listener.StoreAnswers;
import io.firstclaim.lock.ClaimStore;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.core.util.StringUtils;
import io.micronaut.health.HealthStatus;
import io.micronaut.http.context.ServerRequestContext;
import io.micronaut.management.endpoint.health.HealthEndpoint;
import io.micronaut.management.health.indicator.AbstractHealthIndicator;
import io.micronaut.management.health.indicator.HealthCheckType;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.web.router.MethodBasedRouteMatch;
import io.micronaut.web.router.RouteAttributes;
import jakarta.inject.Singleton;
import java.util.Arrays;
import java.util.Map;
import org.reactivestreams.Publisher;

/**
 * Up while the claim store answers a read, which is asked for on a thread that may wait. It belongs
 * to health as a whole, and to neither liveness nor readiness: no restart mends a store. As
 * Micronaut takes whatever is not {@code @Liveness} for readiness, {@code @Readiness} or not, this
 * says nothing where it is asked for one of the two. Thread-safe.
 */
@Singleton
@Requires(classes = HealthEndpoint.class)
@Requires(beans = HealthEndpoint.class)
@Requires(property = HealthEndpoint.PREFIX + ".firstclaim.enabled", notEquals = StringUtils.FALSE)
final class StoreHealth extends AbstractHealthIndicator<Map<String, String>> {
  private final ClaimStore store;

  StoreHealth(ClaimStore store) {
    this.store = store;
    healthStatus = HealthStatus.UP; // unless the read throws
  }

  @Override
  protected String getName() {
    return "firstclaim";
  }

  @Override
  public Publisher<HealthResult> getResult() {
    return isOneKindAskedFor() ? Publishers.empty() : super.getResult();
  }

  /** Whether the request under way, if any, is for liveness or readiness alone. */
  private static boolean isOneKindAskedFor() {
    return ServerRequestContext.currentRequest()
        .flatMap(RouteAttributes::getRouteMatch)
        .filter(
            match ->
                match instanceof MethodBasedRouteMatch<?, ?> method
                    && Arrays.asList(method.getArgumentTypes()).contains(HealthCheckType.class))
        .isPresent();
  }

  @Override
  protected Map<String, String> getHealthInformation() {
    StoreAnswers.require(store);
    return Map.of();
  }
}
