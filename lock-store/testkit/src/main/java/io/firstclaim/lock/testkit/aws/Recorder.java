package io.firstclaim.lock.testkit.aws;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.SdkHttpFullRequest;

/**
 * A tape of a client's requests: keeps each, whether or not it arrives, to send it again as a
 * network would that delays or duplicates.
 */
public final class Recorder implements ExecutionInterceptor {
  private static final Set<String> SET_BY_HTTP =
      Set.of("host", "content-length", "connection", "expect");

  private static final int ATTEMPTS = 3;

  private final URI server;
  private final List<HttpRequest> sent = new ArrayList<>();

  /** A recorder of requests to this server, whatever way they go. */
  public Recorder(URI server) {
    this.server = server;
  }

  @Override
  public void beforeTransmission(
      Context.BeforeTransmission context, ExecutionAttributes attributes) {
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(server.resolve(context.httpRequest().getUri().getRawPath()))
              .method(context.httpRequest().method().name(), body(context));
      context
          .httpRequest()
          .forEachHeader(
              (name, values) -> {
                if (!SET_BY_HTTP.contains(name.toLowerCase(Locale.ROOT))) {
                  values.forEach(value -> request.header(name, value));
                }
              });
      sent.add(request.build());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** The body as it goes over the wire, which may be in signed chunks. */
  private static HttpRequest.BodyPublisher body(Context.BeforeTransmission context)
      throws IOException {
    var provider =
        context.httpRequest() instanceof SdkHttpFullRequest full
            ? full.contentStreamProvider()
            : context.requestBody().map(RequestBody::contentStreamProvider);
    if (provider.isEmpty()) {
      return HttpRequest.BodyPublishers.noBody();
    }
    try (InputStream in = provider.get().newStream()) {
      return HttpRequest.BodyPublishers.ofByteArray(in.readAllBytes());
    }
  }

  /** The last request that the client sent, for {@link #arrive}. */
  public HttpRequest last() {
    return sent.getLast();
  }

  /**
   * Lets a request arrive at the server, now: nobody else waits for its answer. Where the server
   * has failed, as DynamoDB Local does if it is busy with a table for ten seconds, it arrives anew.
   */
  public static HttpResponse<String> arrive(HttpRequest request)
      throws IOException, InterruptedException {
    try (var http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      HttpResponse<String> answer;
      int left = ATTEMPTS;
      do {
        answer = http.send(request, HttpResponse.BodyHandlers.ofString());
      } while (answer.statusCode() == 500 && --left > 0);
      return answer;
    }
  }
}
