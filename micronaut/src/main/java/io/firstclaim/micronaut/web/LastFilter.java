package io.firstclaim.micronaut.web;

import io.micronaut.context.BeanContext;
import io.micronaut.context.ExecutionHandleLocator;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.order.Ordered;
import io.micronaut.http.HttpMethod;
import io.micronaut.http.annotation.Filter;
import io.micronaut.http.server.RouteExecutor;
import io.micronaut.web.router.DefaultRouteBuilder;
import io.micronaut.web.router.FilterRoute;
import jakarta.inject.Singleton;

/**
 * Puts the filter behind all filters of the application, so that whoever says who the principal is
 * comes before. Those without an order are as late as any order can be; of several such, Micronaut
 * takes those first that are for any method, and then one builder's routes after the other's.
 */
@Singleton
@Requires(classes = RouteExecutor.class)
@SuppressWarnings("overrides") // Micronaut itself overrides varargs with arrays
final class LastFilter extends DefaultRouteBuilder implements Ordered {
  LastFilter(ExecutionHandleLocator locator, BeanContext context) {
    super(locator);
    FilterRoute unused =
        addFilter(
                Filter.MATCH_ALL_PATTERN,
                context,
                context.getBeanDefinition(IdempotencyKeyFilter.class))
            .methods(
                HttpMethod.POST,
                HttpMethod.PUT,
                HttpMethod.PATCH,
                HttpMethod.DELETE,
                HttpMethod.CUSTOM);
  }

  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }
}
