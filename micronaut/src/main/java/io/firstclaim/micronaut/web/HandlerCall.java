package io.firstclaim.micronaut.web;

import io.firstclaim.lock.keeper.Worker;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.MutableHttpResponse;
import java.security.Principal;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * The call of a handler that a request may lead to, on whichever thread Micronaut makes it. It is
 * an attribute of the request, put there by who has claimed its key. Thread-safe.
 */
final class HandlerCall {
  private static final String ATTRIBUTE = HandlerCall.class.getName();

  private final @Nullable String scope;
  private final Worker worker = new Worker();

  private HandlerCall(@Nullable String scope) {
    this.scope = scope;
  }

  /** Lets the handler be called in the name of whom the key is claimed for, and of no other. */
  static HandlerCall claimed(HttpRequest<?> request) {
    return put(request, new HandlerCall(principal(request)));
  }

  /** Lets the handler be called without a key. */
  static void unclaimed(HttpRequest<?> request) {
    HandlerCall unused = put(request, new HandlerCall(null));
  }

  private static HandlerCall put(HttpRequest<?> request, HandlerCall call) {
    request.setAttribute(ATTRIBUTE, call);
    return call;
  }

  /** The call of a request; empty if nobody has looked for its key. */
  static Optional<HandlerCall> of(HttpRequest<?> request) {
    return request.getAttribute(ATTRIBUTE, HandlerCall.class);
  }

  /** In whose name a request is made, as far as is known by now. */
  static String principal(HttpRequest<?> request) {
    return request
        .getUserPrincipal()
        .map(Principal::getName)
        .map("principal "::concat)
        .orElse("anyone");
  }

  /**
   * Makes the call, whose thread is the one to interrupt.
   *
   * @throws IllegalStateException if the request has got another principal since its key was
   *     claimed: nothing is called, as two principals would share their keys
   */
  @Nullable Object run(HttpRequest<?> request, Supplier<@Nullable Object> handler) {
    if (scope == null) {
      return handler.get();
    }
    if (!scope.equals(principal(request))) {
      throw new IllegalStateException(
          "the principal is set after the Idempotency-Key is claimed, and two principals would"
              + " share their keys: set it in a filter that comes before others, by @Order");
    }
    worker.begin();
    try {
      return handler.get();
    } finally {
      boolean unused = worker.end();
    }
  }

  /**
   * Waits for the answer to the end, however often it is interrupted: the handler is, and others
   * may begin only once it has ended.
   */
  MutableHttpResponse<?> await(Publisher<? extends MutableHttpResponse<?>> answer)
      throws Exception {
    CompletableFuture<? extends MutableHttpResponse<?>> future = Mono.from(answer).toFuture();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          MutableHttpResponse<?> response = future.get();
          if (response == null) {
            throw new IllegalStateException("the handler gave no answer");
          }
          return response;
        } catch (InterruptedException e) {
          interrupted = true;
          worker.interrupt();
        }
      }
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case Exception own -> throw own;
        case Error own -> throw own;
        case null, default -> throw e;
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
