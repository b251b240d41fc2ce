package io.firstclaim.lock.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
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

/**
 * Keeps every request of a client, whether or not it arrives, to send it again, as a network does
 * that delays or duplicates.
 */
final class Recorder implements ExecutionInterceptor {
  private static final Set<String> SET_BY_HTTP =
      Set.of("host", "content-length", "connection", "expect");

  private final List<HttpRequest> sent = new ArrayList<>();

  @Override
  public void beforeTransmission(
      Context.BeforeTransmission context, ExecutionAttributes attributes) {
    try (InputStream body =
        context.requestBody().orElseThrow().contentStreamProvider().newStream()) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(LocalDynamoDb.endpoint())
              .POST(HttpRequest.BodyPublishers.ofByteArray(body.readAllBytes()));
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

  /** The last request, for {@link #arrive}. */
  HttpRequest last() {
    return sent.getLast();
  }

  /** Lets a request arrive at the server, now, and gives its status: nobody else waits for it. */
  static int arrive(HttpRequest request) throws IOException, InterruptedException {
    try (var http = HttpClient.newHttpClient()) {
      HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
      assertThat(response.statusCode())
          .as("taken, or refused by its condition: %s", response.body())
          .isIn(200, 400);
      if (response.statusCode() == 400) {
        assertThat(response.body()).contains("ConditionalCheckFailedException");
      }
      return response.statusCode();
    }
  }
}
