package io.firstclaim.spring.web;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.listener.web.KeptAnswer;
import io.firstclaim.listener.web.RequestProblem;
import io.firstclaim.listener.web.SentKey;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunResult;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.security.Principal;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Calls a handler once for each key that clients send to it, and gives whoever comes again the
 * stored answer. The client gets an answer of 2xx only when it is stored. Thread-safe.
 */
final class IdempotencyKeyFilter extends OncePerRequestFilter {
  private static final Logger LOG = LoggerFactory.getLogger(IdempotencyKeyFilter.class);

  private static final String FORM = "application/x-www-form-urlencoded";

  private final IdempotentHandlers handlers;
  private final Deduplicator deduplicator;
  private final Limits limits;
  private final OncePerMinute loud;

  /**
   * A filter before these handlers.
   *
   * @param deduplicator which tries without end: how often a request is repeated is up to its
   *     client
   */
  IdempotencyKeyFilter(
      IdempotentHandlers handlers, Deduplicator deduplicator, Limits limits, TimeSource time) {
    this.handlers = handlers;
    this.deduplicator = deduplicator;
    this.limits = limits;
    this.loud = new OncePerMinute(time);
  }

  /**
   * How much is held, in bytes.
   *
   * @param request of a request's body
   * @param answer of an answer as it is stored
   */
  record Limits(int request, int answer) {}

  /** A handler's answer that is not to be stored. */
  private static final class NotStoredException extends Exception {
    private static final long serialVersionUID = 1;

    NotStoredException(int status) {
      super("the handler answered " + status, null, false, false);
    }
  }

  /** A request whose body was read, and what tells it from another of the same key. */
  private record Taken(ReadRequest request, Fingerprint fingerprint) {}

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    IdempotentHandlers.Route route = handlers.find(request);
    if (route == null) {
      passOn(request, response, chain);
      return;
    }
    if (!route.admitsOrigin(request, response)) {
      return;
    }
    switch (SentKey.read(Collections.list(request.getHeaders(SentKey.HEADER)))) {
      case SentKey.Absent() when !route.annotation().required() -> passOn(request, response, chain);
      case SentKey.Absent() -> WrittenAnswer.refuse(RequestProblem.MISSING, response);
      case SentKey.Malformed() -> WrittenAnswer.refuse(RequestProblem.MALFORMED, response);
      case SentKey.Present(String key) -> {
        RequestProblem refused = refusal(request);
        if (refused == null) {
          take(id(request, route, key), request, response, chain);
        } else {
          WrittenAnswer.refuse(refused, response);
        }
      }
    }
  }

  /** Lets a request go on unclaimed: if it is forwarded, this filter looks where to. */
  private void passOn(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    request.removeAttribute(getAlreadyFilteredAttributeName());
    chain.doFilter(request, response);
  }

  /** Why a request is refused without a look at its body; null if it is not. */
  private @Nullable RequestProblem refusal(HttpServletRequest request) {
    if (isType(request, "multipart/")) {
      return RequestProblem.MULTIPART;
    }
    if (request.getContentLengthLong() > limits.request) {
      return RequestProblem.TOO_LARGE;
    }
    return isType(request, FORM) && request.getContentLengthLong() < 0
        ? RequestProblem.LENGTH_REQUIRED
        : null;
  }

  private static boolean isType(HttpServletRequest request, String type) {
    String sent = request.getContentType();
    return sent != null && sent.toLowerCase(Locale.ROOT).startsWith(type);
  }

  /** The record ID of the key, in the name of whom and what it is for. */
  private static RecordId id(
      HttpServletRequest request, IdempotentHandlers.Route route, String key) {
    Principal principal = request.getUserPrincipal();
    // Neither a method nor a pattern has a line break.
    String scope =
        request.getMethod()
            + "\n"
            + route.pattern()
            + "\n"
            + (principal == null ? "anyone" : "principal " + principal.getName());
    return RecordId.of("@web:%s:%s".formatted(Fingerprint.of(scope.getBytes(UTF_8)), key));
  }

  private void take(
      RecordId id, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    Taken taken = read(request);
    if (taken == null) {
      WrittenAnswer.refuse(RequestProblem.TOO_LARGE, response);
      return;
    }
    HeldBackAnswer answer = new HeldBackAnswer(response);
    RunResult result;
    try {
      result =
          deduplicator.run(
              id,
              taken.fingerprint,
              lease -> {
                chain.doFilter(taken.request, answer);
                if (!answer.isSuccess()) {
                  throw new NotStoredException(answer.getStatus());
                }
                return answer.kept(limits.answer);
              });
    } catch (StoreException | IllegalStateException | InterruptedException e) {
      // The store does not answer, or the application stops.
      if (loud.isDue()) {
        LOG.warn("{} is answered with 503", id, e);
      }
      WrittenAnswer.refuse(RequestProblem.UNKNOWN, response);
      return;
    }
    answer(id, result, answer, response);
  }

  private static void answer(
      RecordId id, RunResult result, HeldBackAnswer answer, HttpServletResponse response)
      throws ServletException, IOException {
    switch (result) {
      case RunResult.Ran unused -> answer.passOn();
      case RunResult.DoneBefore(var unused, String stored) ->
          WrittenAnswer.replay(KeptAnswer.read(stored), response);
      case RunResult.Busy unused -> WrittenAnswer.refuse(RequestProblem.BUSY, response);
      case RunResult.NotDue unused -> WrittenAnswer.refuse(RequestProblem.BUSY, response);
      case RunResult.OtherPayload unused ->
          WrittenAnswer.refuse(RequestProblem.OTHER_REQUEST, response);
      case RunResult.GivenUp unused -> WrittenAnswer.refuse(RequestProblem.GIVEN_UP, response);
      case RunResult.AttemptFailed(var unused, var alsoUnused, Throwable thrown) ->
          notStored(id, result, thrown, answer, response);
      case RunResult.LeaseLost(var unused, Throwable thrown) ->
          notStored(id, result, thrown, answer, response);
      case RunResult.Unknown(var unused, Throwable thrown) ->
          notStored(id, result, thrown, answer, response);
    }
  }

  /** Passes on what the handler answered or threw; if it did well, nobody knows of it. */
  private static void notStored(
      RecordId id,
      RunResult result,
      @Nullable Throwable thrown,
      HeldBackAnswer answer,
      HttpServletResponse response)
      throws ServletException, IOException {
    switch (thrown) {
      case NotStoredException unused -> answer.passOn();
      case ServletException own -> throw own;
      case IOException own -> throw own;
      case RuntimeException own -> throw own;
      case Error own -> throw own;
      case null, default -> {
        LOG.warn("{} is answered with 503: {}", id, result);
        WrittenAnswer.refuse(RequestProblem.UNKNOWN, response);
      }
    }
  }

  /** What the request asks for; null if its body is too large. */
  private @Nullable Taken read(HttpServletRequest request) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    DataOutputStream what = new DataOutputStream(all);
    what.write((request.getRequestURI() + "?" + request.getQueryString() + "\n").getBytes(UTF_8));
    boolean isForm = isType(request, FORM);
    if (isForm) {
      // Whoever reads a parameter has the container read the body: it may have done so already.
      Map<String, String[]> parameters = new TreeMap<>(request.getParameterMap());
      for (Map.Entry<String, String[]> parameter : parameters.entrySet()) {
        write(parameter.getKey(), what);
        what.writeInt(parameter.getValue().length);
        for (String value : parameter.getValue()) {
          write(value, what);
        }
      }
    }
    byte[] body = request.getInputStream().readNBytes(limits.request + 1);
    if (body.length > limits.request) {
      return null;
    }
    what.write(body);
    boolean isReadAsParameters = isForm && body.length == 0;
    return new Taken(
        new ReadRequest(request, isReadAsParameters ? FormBody.of(request) : body),
        Fingerprint.of(all.toByteArray()));
  }

  private static void write(@Nullable String text, DataOutputStream out) throws IOException {
    if (text == null) {
      out.writeInt(-1); // a name without a value, as Spring has it in the form of a PUT
      return;
    }
    byte[] bytes = text.getBytes(UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  @Override
  public void destroy() {
    deduplicator.close();
  }
}
