package io.firstclaim.processor.service.admin;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.firstclaim.processor.audit.api.Address;
import io.micronaut.core.io.ResourceResolver;
import io.micronaut.http.ssl.ClientSslConfiguration;
import io.micronaut.http.ssl.ServerSslConfiguration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PeersTest {
  private static final String EMPTY = "{\"items\":[]}";

  private final Peers peers =
      new Peers(
          new ServerSslConfiguration(),
          new PeerTls(new ResourceResolver(), new ClientSslConfiguration()));

  private HttpServer instance;
  private volatile byte[] answer = {};

  @BeforeEach
  void start() throws IOException {
    instance = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    instance.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (var body = exchange.getResponseBody()) {
            body.write(answer);
          }
        });
    instance.start();
  }

  @AfterEach
  void stop() {
    instance.stop(0);
  }

  private ListPage<OutcomeView> dead() {
    return peers.list(new Address("127.0.0.1", instance.getAddress().getPort()), "dead", 10, null);
  }

  @Test
  void answerOfTheGreatestLength_isRead() {
    answer = padded(Peers.MOST_BYTES);

    assertThat(dead().items()).isEmpty();
  }

  @Test
  void longerAnswer_isNotReadToItsEnd() {
    answer = padded(Peers.MOST_BYTES + 1);

    assertThatThrownBy(this::dead)
        .isInstanceOf(Problem.class)
        .hasMessageContaining("does not answer")
        .hasMessageContaining("body exceeds capacity");
  }

  private static byte[] padded(int length) {
    byte[] text = new byte[length];
    Arrays.fill(text, (byte) ' ');
    System.arraycopy(EMPTY.getBytes(US_ASCII), 0, text, 0, EMPTY.length());
    return text;
  }
}
