package io.firstclaim.processor.service.handler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.service.scenario.Certificate;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Execution(ExecutionMode.CONCURRENT)
final class HttpHandlerTlsTest {
  private static final Duration LONG = Duration.ofMinutes(2);

  private static KeyManagerFactory keys;
  private static SSLContext tls;

  @BeforeAll
  static void makeCertificate(@TempDir Path folder) throws Exception {
    Certificate certificate = Certificate.make(folder);
    keys = certificate.keys();
    tls = certificate.tls();
  }

  private static HttpHandler handlerFor(URI url) {
    return new HttpHandler(
        url, LONG, StatusMeanings.DEFAULT, TextMapPropagator.noop(), TimeSource.system(), tls);
  }

  @Test
  void http2_isSpoken_onOneConnection() throws Exception {
    try (Http2Server server = new Http2Server(keys, 100, Duration.ZERO);
        HttpHandler handler = handlerFor(server.url())) {
      AtomicInteger tries = new AtomicInteger();
      assertThat(sent(handler, TestContext.of(new byte[1 << 20]), tries))
          .isEqualTo(HandlerResult.done());
      for (int i = 1; i < 20; i++) {
        assertThat(handler.handle(TestContext.of(new byte[1 << 20])))
            .isEqualTo(HandlerResult.done());
      }
      assertThat(server.protocols()).hasSize(20).containsOnly("h2");
      assertThat(server.sizes()).containsOnly(1 << 20);
      assertThat(server.connections()).isBetween(1, tries.get());
    }
  }

  /** As many as would use the server's streams up, if one stayed taken for each. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void leasesThatAreLost_whileTheRequestsAreInTheClient_sendNoRecord(int looks) throws Exception {
    try (Http2Server server = new Http2Server(keys, 8, Duration.ZERO);
        HttpHandler handler = handlerFor(server.url())) {
      assertThat(sent(handler, TestContext.of("first"))).isEqualTo(HandlerResult.done());
      for (int i = 0; i < 20; i++) {
        AtomicInteger left = new AtomicInteger(looks);
        TestContext losing =
            TestContext.of(new byte[100_000]).heldWhile(() -> left.getAndDecrement() > 0);
        assertThatThrownBy(() -> handler.handle(losing)).isInstanceOf(LeaseLostException.class);
      }
      assertThat(handler.handle(TestContext.of("last"))).isEqualTo(HandlerResult.done());
      assertThat(server.sizes()).containsExactly(5, 4);
      assertThat(server.protocols()).containsOnly("h2");
    }
  }

  @Test
  void requestsBeyondTheServersStreams_areSentToo() throws Exception {
    try (Http2Server server = new Http2Server(keys, 8, Duration.ofMillis(300));
        HttpHandler handler = handlerFor(server.url())) {
      assertThat(sent(handler, TestContext.of("first"))).isEqualTo(HandlerResult.done());
      assertThat(atOnce(50, handler)).containsOnly(HandlerResult.done());
      assertThat(server.protocols()).hasSize(51).contains("h2", "http/1.1");
    }
  }

  @Test
  void manyFirstRequestsAtOnce_areSent() throws Exception {
    try (Http2Server server = new Http2Server(keys, 8, Duration.ofMillis(300));
        HttpHandler handler = handlerFor(server.url())) {
      assertThat(atOnce(40, handler)).containsOnly(HandlerResult.done());
      assertThat(server.protocols()).hasSize(40);
    }
  }

  @Test
  void serverWithoutHttp2_isSpokenToInHttp1() throws Exception {
    HttpsServer server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    server.setHttpsConfigurator(new HttpsConfigurator(tls));
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          TestServer.answer(exchange, exchange.getProtocol().equals("HTTP/1.1") ? 200 : 400);
        });
    server.start();
    try (HttpHandler handler =
        handlerFor(URI.create("https://localhost:" + server.getAddress().getPort() + "/"))) {
      for (int i = 0; i < 5; i++) {
        assertThat(sent(handler, TestContext.of("x"))).isEqualTo(HandlerResult.done());
      }
    } finally {
      server.stop(0);
    }
  }

  @Test
  void untrustedServer_isTriedAgain() throws Exception {
    try (Http2Server server = new Http2Server(keys, 8, Duration.ZERO);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x"))).isInstanceOf(HandlerResult.Unavailable.class);
      assertThat(server.protocols()).isEmpty();
    }
  }

  /** The JDK tells it as neither a failed handshake nor a failed connection. */
  @ParameterizedTest
  @ValueSource(strings = {"HTTP/1.1 400 Bad Request\r\n\r\n", ""})
  void serverWithoutTls_isNoFailureOfTheRecord(String answer) throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        HttpHandler handler =
            handlerFor(URI.create("https://localhost:%d/".formatted(server.getLocalPort())))) {
      Future<?> _ =
          threads.submit(
              () -> {
                while (!server.isClosed()) {
                  try (Socket connection = server.accept()) {
                    var _ = connection.getInputStream().read(new byte[1024]);
                    connection.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
                  } catch (IOException _) {
                    // The client has gone, or the test has ended.
                  }
                }
              });

      assertThat(sentWithoutTls(handler)).isInstanceOf(HandlerResult.Unavailable.class);
    }
  }

  /**
   * The JDK may give a request to a connection whose TLS has failed a moment ago, as one without
   * HTTP/2, and says then that no byte came: {@code SSLFlowDelegate} takes the protocol as agreed
   * when it writes its alert. What comes to that is sent again, as its record would be.
   */
  private static HandlerResult sentWithoutTls(HttpHandler handler) throws Exception {
    HandlerResult result = handler.handle(TestContext.of("x"));
    for (int again = 0; again < 3; again++) {
      if (!(result instanceof HandlerResult.Retry(String cause, var _))
          || !cause.contains("header parser received no bytes")) {
        break;
      }
      result = handler.handle(TestContext.of("x"));
    }
    return result;
  }

  /**
   * What takes no connection within ten seconds is sent again, as its record would be. The JDK
   * calls it a request that timed out if the connection comes at that very moment.
   */
  private static HandlerResult sent(HttpHandler handler, RecordContext record) throws Exception {
    return sent(handler, record, new AtomicInteger());
  }

  private static HandlerResult sent(HttpHandler handler, RecordContext record, AtomicInteger tries)
      throws Exception {
    while (true) {
      tries.incrementAndGet();
      HandlerResult result = handler.handle(record);
      if (!(result instanceof HandlerResult.Unavailable(String cause, Duration _))
          || !cause.contains("TimeoutException")) {
        return result;
      }
    }
  }

  private static List<HandlerResult> atOnce(int count, HttpHandler handler) throws Exception {
    List<HandlerResult> results = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<HandlerResult>> running = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        running.add(threads.submit(() -> sent(handler, TestContext.of("x"))));
      }
      for (Future<HandlerResult> one : running) {
        results.add(one.get());
      }
    }
    return results;
  }
}
