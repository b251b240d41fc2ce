package io.firstclaim.micronaut.web;

import io.firstclaim.micronaut.IdempotencyKey;
import io.micronaut.aop.InterceptorBean;
import io.micronaut.aop.MethodInterceptor;
import io.micronaut.aop.MethodInvocationContext;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.order.Ordered;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.context.ServerRequestContext;
import io.micronaut.http.server.RouteExecutor;
import jakarta.inject.Singleton;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Around a handler: lets no call through but one for a request whose key the filter has claimed, in
 * the name of whom it is claimed for. Thread-safe.
 */
@Singleton
@InterceptorBean(IdempotencyKey.class)
@Requires(classes = RouteExecutor.class)
final class IdempotencyKeyInterceptor implements MethodInterceptor<Object, Object> {
  /** This is outside of all other advice that may have an effect. */
  @Override
  public int getOrder() {
    return Ordered.HIGHEST_PRECEDENCE;
  }

  @Override
  public @Nullable Object intercept(MethodInvocationContext<Object, Object> call) {
    Optional<HttpRequest<Object>> request = ServerRequestContext.currentRequest();
    HandlerCall handler =
        request
            .flatMap(HandlerCall::of)
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "%s is called by something else than a request to it, so no key is claimed"
                                .formatted(call.getExecutableMethod())
                            + " for: call a method that is not @IdempotencyKey, or"
                            + " Deduplicator.run"));
    return handler.run(request.get(), call::proceed);
  }
}
