package io.firstclaim.simulation.aws;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.s3.S3Bucket;
import io.firstclaim.lock.s3.S3ClaimStore;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.stack.server.Unhurried;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/** The simulated S3 with one bucket, in a test's time and without a world around it. */
final class TestS3 {
  static final String BUCKET = "claims";
  static final String PREFIX = "claims/";

  private final S3InMemory objects;
  private Supplier<Instant> time;

  TestS3(Supplier<Instant> time, @Nullable Consumer<Runnable> later) {
    this.time = time;
    this.objects = new S3InMemory((_, _, _) -> {}, later);
    objects.create(BUCKET, false);
  }

  TestS3(boolean versioned) {
    this(Instant::now, null);
    objects.create(BUCKET, versioned);
  }

  /** From now on it lives in this time. */
  TestS3 in(ManualTime now) {
    time = now::right;
    return this;
  }

  private Service.Answer answer(S3InMemory.Request request) {
    Instant now = time.get();
    return objects.answer(request, now, now);
  }

  /** A client that is answered without a network. */
  S3ClientBuilder builder() {
    return builder("http://s3")
        .httpClient(new Direct())
        .overrideConfiguration(override -> override.addExecutionInterceptor(new Unhurried()));
  }

  static S3ClientBuilder builder(String endpoint) {
    return S3Client.builder()
        .region(Region.US_EAST_1)
        .endpointOverride(URI.create(endpoint))
        .forcePathStyle(true)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")));
  }

  S3ClaimStore store(ClaimSettings settings, TimeSource machine) {
    return store(S3Bucket.configure(builder(), settings).build(), settings, machine);
  }

  static S3ClaimStore store(S3Client client, ClaimSettings settings, TimeSource machine) {
    return new S3ClaimStore(
        new S3Bucket(client, BUCKET, PREFIX), settings, machine, StoreListener.NONE);
  }

  /** Serves it on a port of this machine. */
  HttpServer serve(int port) {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
      server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      server.createContext("/", this::answer);
      server.start();
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    Service.Answer answer =
        answer(
            S3.request(
                exchange.getRequestMethod(),
                exchange.getRequestURI().toString(),
                exchange.getRequestHeaders(),
                body));
    answer.headers().forEach(exchange.getResponseHeaders()::set);
    boolean hasBody = answer.body().length > 0;
    exchange.sendResponseHeaders(answer.status(), hasBody ? answer.body().length : -1);
    if (hasBody) {
      try (OutputStream out = exchange.getResponseBody()) {
        out.write(answer.body());
      }
    }
    exchange.close();
  }

  /** {@code TestS3 PORT [versioned]}: serves it to the tests of the S3 stores themselves. */
  public static void main(String[] args) {
    HttpServer server =
        new TestS3(args.length > 1 && args[1].equals("versioned")).serve(Integer.parseInt(args[0]));
    System.out.println("The simulated S3 listens at " + server.getAddress());
  }

  private final class Direct implements SdkHttpClient {
    @Override
    public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
      return new ExecutableHttpRequest() {
        @Override
        public HttpExecuteResponse call() {
          return SimulatedHttp.response(
              answer(
                  S3.request(
                      request.httpRequest().method().name(),
                      request.httpRequest().getUri().toString(),
                      request.httpRequest().headers(),
                      SimulatedHttp.body(request))));
        }

        @Override
        public void abort() {
          // it is answered at once
        }
      };
    }

    @Override
    public void close() {
      // there is nothing to close
    }
  }
}
