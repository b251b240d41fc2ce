package io.firstclaim.micronaut.web;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.lock.deduplicator.RunListener;
import io.firstclaim.micronaut.IdempotencyKey;
import io.firstclaim.micronaut.config.AdvisedMethod;
import io.firstclaim.micronaut.config.FirstclaimSettings;
import io.firstclaim.micronaut.config.StartRefusedException;
import io.micronaut.context.BeanContext;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.event.ShutdownEvent;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.CustomHttpMethod;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Head;
import io.micronaut.http.annotation.HttpMethodMapping;
import io.micronaut.http.annotation.Options;
import io.micronaut.http.annotation.Trace;
import io.micronaut.http.server.RouteExecutor;
import io.micronaut.inject.BeanDefinition;
import io.micronaut.inject.ExecutableMethod;
import io.micronaut.runtime.event.annotation.EventListener;
import io.micronaut.web.router.RouteAttributes;
import io.micronaut.web.router.UriRouteMatch;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The handlers that are to be called once for each key, and what their keys are claimed by. Made
 * before the server listens, it refuses those that cannot be kept. As the application stops, a
 * handler at work is interrupted. Thread-safe.
 */
@Context
@Requires(classes = RouteExecutor.class)
final class IdempotentHandlers {
  /** What fits into an item of DynamoDB beside the claim. */
  private static final int MOST_STORED = 350 * 1024;

  private static final int LEAST_STORED = 1024;

  /** Without end and at once: how often a request is repeated is up to its client. */
  private static final RetryPolicy CLIENTS =
      new RetryPolicy(Integer.MAX_VALUE, new Backoff(Duration.ofNanos(1), Duration.ofNanos(1)));

  private static final String ANNOTATION = "IdempotencyKey";
  private static final String ASYNC = "io.micronaut.scheduling.annotation.Async";
  private static final String VIEW = "io.micronaut.views.View";

  private static final Set<String> SAFE =
      Set.of(
          Get.class.getName(),
          Head.class.getName(),
          Options.class.getName(),
          Trace.class.getName());

  private static final Set<String> SAFE_NAMES = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

  private final Deduplicator deduplicator;
  private final FirstclaimSettings.Web limits;

  IdempotentHandlers(
      BeanContext context,
      FirstclaimSettings.Claim claim,
      FirstclaimSettings.Handler handler,
      FirstclaimSettings.Web limits,
      ClaimStore store,
      TimeSource time,
      List<RunListener> listeners) {
    require(
        limits.maxRequest() >= 1 && limits.maxRequest() < Integer.MAX_VALUE,
        "firstclaim.web.max-request is " + limits.maxRequest(),
        "give 1 to 2047MB: each body is held in memory");
    require(
        limits.maxAnswer() >= LEAST_STORED && limits.maxAnswer() <= MOST_STORED,
        "firstclaim.web.max-answer is " + limits.maxAnswer(),
        "give 1KB to 350KB: it must fit into an item of DynamoDB beside the claim");
    this.limits = limits;
    deduplicator =
        Deduplicator.builder(store, time)
            .retry(CLIENTS)
            .renew(claim.renew())
            .atMost(handler.timeout())
            .listener((id, result, took) -> listeners.forEach(told -> told.ended(id, result, took)))
            .build();
    for (BeanDefinition<?> bean : context.getAllBeanDefinitions()) {
      for (ExecutableMethod<?, ?> method : bean.getExecutableMethods()) {
        if (method.hasStereotype(IdempotencyKey.class)) {
          requireKeeps(AdvisedMethod.of(method), bean, method);
        }
      }
    }
  }

  private static void require(boolean holds, String fault, String remedy) {
    if (!holds) {
      throw new StartRefusedException(fault, remedy);
    }
  }

  private static void requireKeeps(
      AdvisedMethod key, BeanDefinition<?> bean, ExecutableMethod<?, ?> method) {
    List<String> mappings = method.getAnnotationNamesByStereotype(HttpMethodMapping.class);
    key.require(
        bean.hasStereotype(Controller.class) && !mappings.isEmpty(),
        ANNOTATION,
        "it is no handler of a request",
        "put it on a @Post or the like, of a @Controller");
    key.require(
        mappings.stream().noneMatch(SAFE::contains)
            && method
                .stringValue(CustomHttpMethod.class, "method")
                .filter(SAFE_NAMES::contains)
                .isEmpty(),
        ANNOTATION,
        "it is called for GET or other methods that change nothing",
        "give it methods that do: @Post, @Put, @Patch or @Delete");
    key.require(
        !method.isSuspend()
            && !method.hasStereotype(ASYNC)
            && !HeldBackAnswer.isLater(method.getReturnType().asArgument()),
        ANNOTATION,
        "it answers after it has returned, so its answer cannot be stored first",
        "return the answer itself");
    key.require(
        !method.hasAnnotation(VIEW),
        ANNOTATION,
        "its answer is rendered outside of what is stored",
        "render it in the handler, and return the text");
  }

  /**
   * A handler that a request is for.
   *
   * @param required whether a request must have a key
   * @param pattern the path that the handler's author has written
   */
  record Route(boolean required, String pattern) {}

  /** The handler that will be called for this request; null if it is none of ours. */
  static @Nullable Route find(HttpRequest<?> request) {
    return RouteAttributes.getRouteMatch(request)
        .filter(match -> match.getAnnotationMetadata().hasStereotype(IdempotencyKey.class))
        .map(
            match ->
                new Route(
                    match
                        .getAnnotationMetadata()
                        .booleanValue(IdempotencyKey.class, "required")
                        .orElse(true),
                    match instanceof UriRouteMatch<?, ?> uri
                        ? uri.getRouteInfo().getUriMatchTemplate().toPathString()
                        : request.getPath()))
        .orElse(null);
  }

  Deduplicator deduplicator() {
    return deduplicator;
  }

  FirstclaimSettings.Web limits() {
    return limits;
  }

  @EventListener
  void stop(ShutdownEvent unused) {
    deduplicator.close();
  }
}
