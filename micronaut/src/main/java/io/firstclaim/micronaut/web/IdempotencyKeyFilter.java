package io.firstclaim.micronaut.web;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.listener.web.KeptAnswer;
import io.firstclaim.listener.web.RequestProblem;
import io.firstclaim.listener.web.SentKey;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.RunResult;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.order.Ordered;
import io.micronaut.core.propagation.PropagatedContext;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.body.MessageBodyHandlerRegistry;
import io.micronaut.http.filter.HttpServerFilter;
import io.micronaut.http.filter.ServerFilterChain;
import io.micronaut.http.server.RouteExecutor;
import jakarta.inject.Singleton;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Calls a handler once for each key that clients send to it, and gives whoever comes again the
 * stored answer. The client gets an answer of 2xx only when it is stored. Each request with a key
 * has a virtual thread to wait on, and no event loop waits. Thread-safe.
 */
@Singleton
@Requires(classes = RouteExecutor.class)
final class IdempotencyKeyFilter implements HttpServerFilter {
  private static final Logger LOG = LoggerFactory.getLogger(IdempotencyKeyFilter.class);

  private final IdempotentHandlers handlers;
  private final HeldBackAnswer.Encoder encoder;
  private final OncePerMinute loud;
  private final ThreadFactory threads = Thread.ofVirtual().name("firstclaim-web-", 0).factory();

  IdempotencyKeyFilter(
      IdempotentHandlers handlers,
      RouteExecutor routes,
      MessageBodyHandlerRegistry writers,
      TimeSource time) {
    this.handlers = handlers;
    this.encoder = new HeldBackAnswer.Encoder(routes, writers);
    this.loud = new OncePerMinute(time);
  }

  /** A handler's answer that is not to be stored. */
  private static final class NotStoredException extends Exception {
    private static final long serialVersionUID = 1;

    NotStoredException(int status) {
      super("the handler answered " + status, null, false, false);
    }
  }

  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }

  @Override
  public Publisher<MutableHttpResponse<?>> doFilter(
      HttpRequest<?> request, ServerFilterChain chain) {
    IdempotentHandlers.Route route = IdempotentHandlers.find(request);
    if (route == null) {
      return chain.proceed(request);
    }
    return switch (SentKey.read(request.getHeaders().getAll(SentKey.HEADER))) {
      case SentKey.Absent() when !route.required() -> {
        HandlerCall.unclaimed(request);
        yield chain.proceed(request);
      }
      case SentKey.Absent() -> refused(RequestProblem.MISSING);
      case SentKey.Malformed() -> refused(RequestProblem.MALFORMED);
      case SentKey.Present(String key) ->
          RequestBytes.isType(request, "multipart/")
              ? refused(RequestProblem.MULTIPART)
              : taken(id(request, route, key), request, chain);
    };
  }

  private static Mono<MutableHttpResponse<?>> refused(RequestProblem problem) {
    return Mono.just(WrittenAnswer.refusal(problem));
  }

  /** The record ID of the key, in the name of whom and what it is for. */
  private static RecordId id(HttpRequest<?> request, IdempotentHandlers.Route route, String key) {
    // Neither a method nor a pattern has a line break.
    String scope =
        request.getMethodName() + "\n" + route.pattern() + "\n" + HandlerCall.principal(request);
    return RecordId.of("@web:%s:%s".formatted(Fingerprint.of(scope.getBytes(UTF_8)), key));
  }

  private Mono<MutableHttpResponse<?>> taken(
      RecordId id, HttpRequest<?> request, ServerFilterChain chain) {
    HandlerCall call = HandlerCall.claimed(request);
    PropagatedContext context = PropagatedContext.getOrEmpty();
    return RequestBytes.read(request, (int) handlers.limits().maxRequest())
        .map(
            body ->
                new TakenRequest(id, RequestBytes.fingerprint(request, body), request, chain, call))
        .flatMap(taken -> onItsThread(taken, context))
        .onErrorResume(
            RequestBytes.TooLargeException.class, unused -> refused(RequestProblem.TOO_LARGE));
  }

  private Mono<MutableHttpResponse<?>> onItsThread(TakenRequest taken, PropagatedContext context) {
    return Mono.create(
        sink ->
            threads
                .newThread(
                    context.wrap(
                        () -> {
                          try {
                            sink.success(taken.answer());
                          } catch (Exception | Error e) { // Micronaut says what becomes of it
                            sink.error(e);
                          }
                        }))
                .start());
  }

  /** A request whose body was read. For one thread. */
  private final class TakenRequest {
    private final RecordId id;
    private final Fingerprint fingerprint;
    private final HttpRequest<?> request;
    private final ServerFilterChain chain;
    private final HandlerCall call;
    private @Nullable MutableHttpResponse<?> answer;

    TakenRequest(
        RecordId id,
        Fingerprint fingerprint,
        HttpRequest<?> request,
        ServerFilterChain chain,
        HandlerCall call) {
      this.id = id;
      this.fingerprint = fingerprint;
      this.request = request;
      this.chain = chain;
      this.call = call;
    }

    MutableHttpResponse<?> answer() throws Exception {
      RunResult result;
      try {
        result = handlers.deduplicator().run(id, fingerprint, unused -> handled());
      } catch (StoreException | IllegalStateException | InterruptedException e) {
        // The store does not answer, or the application stops.
        if (loud.isDue()) {
          LOG.warn("{} is answered with 503", id, e);
        }
        return WrittenAnswer.refusal(RequestProblem.UNKNOWN);
      }
      return answer(result);
    }

    /** Has the handler called; what to store of its answer. */
    private String handled() throws Exception {
      MutableHttpResponse<?> response = call.await(chain.proceed(request));
      if (!HeldBackAnswer.isSuccess(response)) {
        answer = response;
        throw new NotStoredException(response.code());
      }
      HeldBackAnswer held = encoder.encode(request, response);
      answer = held.passedOn();
      return held.kept(handlers.limits().maxAnswer());
    }

    private MutableHttpResponse<?> answer(RunResult result) throws Exception {
      return switch (result) {
        case RunResult.Ran unused -> itsAnswer();
        case RunResult.DoneBefore(var unused, String stored) ->
            WrittenAnswer.replay(KeptAnswer.read(stored));
        case RunResult.Busy unused -> WrittenAnswer.refusal(RequestProblem.BUSY);
        case RunResult.NotDue unused -> WrittenAnswer.refusal(RequestProblem.BUSY);
        case RunResult.OtherPayload unused -> WrittenAnswer.refusal(RequestProblem.OTHER_REQUEST);
        case RunResult.GivenUp unused -> WrittenAnswer.refusal(RequestProblem.GIVEN_UP);
        case RunResult.AttemptFailed(var unused, var alsoUnused, Throwable thrown) ->
            notStored(result, thrown);
        case RunResult.LeaseLost(var unused, Throwable thrown) -> notStored(result, thrown);
        case RunResult.Unknown(var unused, Throwable thrown) -> notStored(result, thrown);
      };
    }

    /** Passes on what the handler answered, or what was thrown; if it did well, nobody knows. */
    private MutableHttpResponse<?> notStored(RunResult result, @Nullable Throwable thrown)
        throws Exception {
      return switch (thrown) {
        case NotStoredException unused -> itsAnswer();
        case RuntimeException own -> throw own;
        case Error own -> throw own;
        case null, default -> {
          LOG.warn("{} is answered with 503: {}", id, result);
          yield WrittenAnswer.refusal(RequestProblem.UNKNOWN);
        }
      };
    }

    private MutableHttpResponse<?> itsAnswer() {
      return Objects.requireNonNull(answer);
    }
  }
}
