package io.firstclaim.simulation.aws;

import io.firstclaim.simulation.world.Machine;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpFullResponse;

/** The HTTP client of a machine's AWS SDK. */
final class SimulatedHttp implements SdkHttpClient {
  private static final Duration SOCKET_TIMEOUT = Duration.ofSeconds(30);

  private final Machine machine;
  private final Wire wire;
  private final Service service;

  SimulatedHttp(Machine machine, Wire wire, Service service) {
    this.machine = machine;
    this.wire = wire;
    this.service = service;
  }

  @Override
  public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
    Wire.Request sent =
        new Wire.Request(
            machine,
            request.httpRequest().method().name(),
            request.httpRequest().getUri().toString(),
            request.httpRequest().headers(),
            body(request));
    Exchange exchange = new Exchange();
    return new ExecutableHttpRequest() {
      @Override
      public HttpExecuteResponse call() throws IOException {
        wire.send(sent, service, exchange);
        return response(exchange.await(SOCKET_TIMEOUT));
      }

      @Override
      public void abort() {
        exchange.abort();
      }
    };
  }

  /** All of a request's body. */
  static byte[] body(HttpExecuteRequest request) {
    return request
        .contentStreamProvider()
        .map(
            content -> {
              try (InputStream stream = content.newStream()) {
                return stream.readAllBytes();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            })
        .orElseGet(() -> new byte[0]);
  }

  /** The answer as the SDK wants it. */
  static HttpExecuteResponse response(Service.Answer answer) {
    SdkHttpFullResponse.Builder head = SdkHttpFullResponse.builder().statusCode(answer.status());
    answer.headers().forEach(head::putHeader);
    return HttpExecuteResponse.builder()
        .response(head.build())
        .responseBody(AbortableInputStream.create(new ByteArrayInputStream(answer.body())))
        .build();
  }

  @Override
  public void close() {
    // there is nothing to close
  }
}
