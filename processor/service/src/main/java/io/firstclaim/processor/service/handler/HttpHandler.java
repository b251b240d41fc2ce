package io.firstclaim.processor.service.handler;

import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.ResponseInfo;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Posts each record to a URL: the value byte for byte as the body, empty if the record has none.
 *
 * <p>Headers: {@code Idempotency-Key} is the record's ID, percent-encoded if it is not a legal
 * header value; {@code Firstclaim-Token}, {@code -Attempt}, {@code -Zone}, {@code -Topic}, {@code
 * -Partition} and {@code -Offset} say which attempt this is and where the record came from; {@code
 * Firstclaim-Resource-Tokens} has the {@link ResourceTokens} of a record that touches something;
 * {@code Content-Type} is the record's own, or {@code application/octet-stream}; {@code ce_*}
 * headers of the record become {@code ce-*}, values percent-encoded as in the HTTP binding of
 * CloudEvents. If the record is traced, the request continues its trace, by the headers of the
 * propagator, such as {@code traceparent}. A record whose own headers, or whose resource tokens,
 * take more than 8 KiB is {@link HandlerResult.Failed}.
 *
 * <p>Any 2xx is done. No connection, 429, 502, 503, 504, and 3xx, 401, 403 and 407, which would be
 * the same for any record, are {@link HandlerResult.Unavailable}, and so is whatever breaks before
 * the request is written, as TLS may. 408, 425, other 5xx, no answer in time, a connection that
 * breaks and an answer that is not HTTP are {@link HandlerResult.Retry}. Both wait as long as
 * {@code Retry-After} asks for, up to an hour. Every other status is final; redirects are not
 * followed. {@link StatusMeanings} may say otherwise. The first bytes of a failing answer become
 * part of the cause.
 *
 * <p>404, 405 and 410 may also come of a wrong URL: until the first record is done they are {@link
 * HandlerResult.Unavailable}, for good once 20 different records had such an answer, else for five
 * minutes after a record's first.
 *
 * <p>The last look at the lease is where the request is written: see {@link BodyWhileHeld}.
 *
 * <p>Connections are kept and used again. To {@code https} URLs it speaks HTTP/2 if the server
 * does, else HTTP/1.1; requests beyond the streams that the server allows go over HTTP/1.1. To
 * {@code http} URLs it speaks HTTP/1.1: cleartext HTTP/2 would have to be negotiated by upgrading
 * the first POST, which many servers get wrong. Thread-safe.
 */
public final class HttpHandler implements RecordHandler, AutoCloseable {
  private static final Duration MAX_CONNECT_TIME = Duration.ofSeconds(10);
  private static final int MAX_PORT = 65_535;

  /** The JDK's words for a request that it did not send, and the only sign of it: JDK-8225647. */
  private static final String NO_STREAM = "too many concurrent streams";

  private final HttpClient client;

  /** Few platform threads: name lookups would pin the carriers of virtual ones. */
  private final ExecutorService executor;

  private final HttpRequest.Builder template;
  private final String place;
  private final Duration timeout;
  private final StatusMeanings meanings;
  private final TextMapPropagator propagator;
  private final TimeSource time;
  private final WrongUrl wrongUrl;

  /** A handler that posts to this URL, for which statuses mean what HTTP says; traces nothing. */
  public HttpHandler(URI url, Duration timeout, TimeSource time) {
    this(url, timeout, StatusMeanings.DEFAULT, TextMapPropagator.noop(), time);
  }

  /**
   * A handler that posts to this URL. User-info in the URL becomes basic authentication.
   *
   * @param timeout from the request's start to the answer's headers
   * @param meanings what statuses mean
   * @param propagator writes the current trace into the requests
   * @throws IllegalArgumentException if the URL is not http or https with a host, or the timeout
   *     not positive; the message names the value, without secrets, and what is right
   */
  public HttpHandler(
      URI url,
      Duration timeout,
      StatusMeanings meanings,
      TextMapPropagator propagator,
      TimeSource time) {
    this(url, timeout, meanings, propagator, time, null);
  }

  HttpHandler(
      URI url,
      Duration timeout,
      StatusMeanings meanings,
      TextMapPropagator propagator,
      TimeSource time,
      @Nullable SSLContext tls) {
    this.place = withoutSecrets(url);
    requireUsable(url);
    boolean secure = url.getScheme().equalsIgnoreCase("https");
    if (!timeout.isPositive()) {
      throw new IllegalArgumentException(
          "the timeout of an HTTP request is positive, not " + timeout);
    }
    this.timeout = timeout;
    this.meanings = meanings;
    this.propagator = propagator;
    this.time = time;
    this.wrongUrl = new WrongUrl(time);
    this.template = HttpRequest.newBuilder(url).timeout(timeout);
    if (url.getUserInfo() != null) {
      byte[] credentials = url.getUserInfo().getBytes(StandardCharsets.UTF_8);
      template.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials));
    }
    this.executor =
        Executors.newFixedThreadPool(
            Math.max(2, Runtime.getRuntime().availableProcessors()),
            Thread.ofPlatform().daemon().name("http-handler-", 0).factory());
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(secure ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(timeout.compareTo(MAX_CONNECT_TIME) < 0 ? timeout : MAX_CONNECT_TIME)
            .executor(executor);
    this.client = (tls == null ? builder : builder.sslContext(tls)).build();
  }

  /**
   * Does nothing if records can be posted to this URL.
   *
   * @throws IllegalArgumentException if it is not http or https with a host; the message names the
   *     value, without secrets, and what is right
   */
  public static void requireUsable(URI url) {
    String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
    boolean sound =
        (scheme.equals("http") || scheme.equals("https"))
            && url.getHost() != null
            && url.getPort() != 0
            && url.getPort() <= MAX_PORT;
    if (!sound) {
      throw new IllegalArgumentException(
          "'%s' is not an http or https URL with a host, such as http://127.0.0.1:8000/records"
              .formatted(withoutSecrets(url)));
    }
  }

  private static String withoutSecrets(URI url) {
    return OneLine.of(
        url.toASCIIString().replaceFirst("//[^/?#]*@", "//").replaceFirst("[?#].*", ""));
  }

  @Override
  public HandlerResult handle(RecordContext context) throws InterruptedException {
    Optional<Map<String, String>> forwarded = ForwardedHeaders.of(context.record().headers());
    if (forwarded.isEmpty()) {
      return new HandlerResult.Failed(
          "the content-type and ce_ headers take more than %d bytes"
              .formatted(ForwardedHeaders.MAX_BYTES));
    }
    Optional<String> tokens = ResourceTokens.header(context.resourceTokens());
    if (tokens.isEmpty()) {
      return new HandlerResult.Failed(
          "the resources' names and tokens take more than %d bytes"
              .formatted(ResourceTokens.MAX_LENGTH));
    }
    byte @Nullable [] value = context.record().value();
    BodyWhileHeld body =
        new BodyWhileHeld(
            value == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(value),
            context,
            client.version() == HttpClient.Version.HTTP_1_1);
    HttpRequest.Builder request = request(context, tokens.get(), forwarded.get()).POST(body);
    context.ensureHeld();
    try {
      return result(context.id(), send(request));
    } catch (IOException e) {
      Optional<LeaseLostException> refusal = body.refusal();
      if (refusal.isPresent()) {
        throw refusal.get();
      }
      return body.isBegun() ? fault(e) : noConnection(e);
    }
  }

  private HandlerResult noConnection(IOException fault) {
    return HandlerResult.unavailable(
        "no connection to %s: %s".formatted(place, OneLine.of(fault.toString())), Duration.ZERO);
  }

  private HandlerResult fault(IOException fault) {
    return switch (fault) {
      case HttpConnectTimeoutException _,
          ConnectException _,
          SSLHandshakeException _,
          SSLPeerUnverifiedException _ ->
          noConnection(fault);
      case HttpTimeoutException _ ->
          HandlerResult.retry("no answer from %s within %s".formatted(place, timeout));
      default ->
          HandlerResult.retry(
              "no answer from %s: %s".formatted(place, OneLine.of(fault.toString())));
    };
  }

  private HttpRequest.Builder request(
      RecordContext context, String tokens, Map<String, String> forwarded) {
    ConsumerRecord<byte[], byte[]> record = context.record();
    HttpRequest.Builder request =
        template
            .copy()
            .setHeader("Idempotency-Key", context.id().headerText())
            .setHeader("Firstclaim-Token", Long.toString(context.token()))
            .setHeader("Firstclaim-Attempt", Integer.toString(context.attempt()))
            .setHeader("Firstclaim-Zone", context.zone())
            .setHeader(
                "Firstclaim-Topic",
                ForwardedHeaders.encoded(record.topic().getBytes(StandardCharsets.UTF_8)))
            .setHeader("Firstclaim-Partition", Integer.toString(record.partition()))
            .setHeader("Firstclaim-Offset", Long.toString(record.offset()));
    if (!tokens.isEmpty()) {
      request.setHeader(ResourceTokens.NAME, tokens);
    }
    forwarded.forEach(request::setHeader);
    propagator.inject(Context.current(), request, HttpHandler::setHeader);
    return request;
  }

  private static void setHeader(HttpRequest.@Nullable Builder of, String name, String value) {
    Objects.requireNonNull(of).setHeader(name, value);
  }

  /** The head of an answer, and of its body what has come. */
  private record Answer(ResponseInfo head, AnswerBody body) {}

  private Answer send(HttpRequest.Builder request) throws IOException, InterruptedException {
    try {
      return send(request.build());
    } catch (IOException e) {
      if (e.getMessage() == null || !e.getMessage().contains(NO_STREAM)) {
        throw e;
      }
      return send(request.version(HttpClient.Version.HTTP_1_1).build());
    }
  }

  private Answer send(HttpRequest request) throws IOException, InterruptedException {
    AtomicReference<@Nullable Answer> answer = new AtomicReference<>();
    try {
      client.send(
          request,
          head -> {
            AnswerBody body = new AnswerBody();
            answer.set(new Answer(head, body));
            return body;
          });
    } catch (IOException e) {
      if (answer.get() == null) {
        throw e;
      }
    }
    return Objects.requireNonNull(answer.get());
  }

  private HandlerResult result(RecordId id, Answer answer) {
    int status = answer.head().statusCode();
    return switch (meanings.of(status)) {
      case DONE -> {
        wrongUrl.done();
        yield HandlerResult.done();
      }
      case FAILED ->
          new HandlerResult.Retry(cause(answer, StatusMeanings.remedy(status)), retryAfter(answer));
      case UNAVAILABLE -> unavailable(answer, StatusMeanings.remedy(status));
      case NOTHING_THERE ->
          wrongUrl.holdsBack(id)
              ? unavailable(answer, StatusMeanings.remedyOfWrongUrl(status))
              : new HandlerResult.Failed(cause(answer, ""));
      case FINAL -> new HandlerResult.Failed(cause(answer, StatusMeanings.remedy(status)));
    };
  }

  private HandlerResult unavailable(Answer answer, String remedy) {
    return HandlerResult.unavailable(
        cause(answer, remedy), retryAfter(answer).orElse(Duration.ZERO));
  }

  private String cause(Answer answer, String remedy) {
    int status = answer.head().statusCode();
    String said = answer.body().beginning();
    return "HTTP %d from %s%s%s"
        .formatted(status, place, remedy, said.isEmpty() ? "" : ": " + said);
  }

  private Optional<Duration> retryAfter(Answer answer) {
    return answer
        .head()
        .headers()
        .firstValue("Retry-After")
        .flatMap(header -> RetryAfter.parse(header, time.now().wall()));
  }

  /** Breaks off requests under way and closes the connections. */
  @Override
  public void close() {
    client.shutdownNow();
    executor.shutdownNow();
  }
}
