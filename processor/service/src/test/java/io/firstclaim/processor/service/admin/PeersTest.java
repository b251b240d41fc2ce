package io.firstclaim.processor.service.admin;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.Coverage;
import io.micronaut.core.io.ResourceResolver;
import io.micronaut.http.ssl.ClientSslConfiguration;
import io.micronaut.http.ssl.ServerSslConfiguration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PeersTest {
  private static final String EMPTY = "{\"items\":[]}";
  private static final Path TOKEN = Path.of("target", "peer-token");

  /** However slow the machine is: what hangs here does so until all are asked, and no longer. */
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final Peers peers = peers(Optional.of(TOKEN));

  private HttpServer instance;
  private volatile byte[] answer = {};
  private volatile int status = 200;
  private volatile Headers asked = new Headers();

  @BeforeEach
  void start() throws IOException {
    Path _ = Files.writeString(TOKEN, "the-peers\n");
    instance = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    instance.createContext(
        "/",
        exchange -> {
          asked = exchange.getRequestHeaders();
          exchange.sendResponseHeaders(status, 0);
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

  private static Peers peers(Optional<Path> token) {
    return new Peers(
        new ServerSslConfiguration(),
        new PeerTls(new ResourceResolver(), new ClientSslConfiguration()),
        new PeerCredential("orders/a", true, token),
        LIMIT);
  }

  private ListPage<OutcomeView> dead() {
    return peers.list(part(), "dead", 10, null);
  }

  private Coverage.Part part() {
    return new Coverage.Part(
        new Address("127.0.0.1", instance.getAddress().getPort()), new TreeSet<>(Set.of(0, 2)));
  }

  @Test
  void manyInstances_areAskedAtOnce_soThatThoseThatHangCostTheTimeOfOne() throws Exception {
    CyclicBarrier allAreAsked = new CyclicBarrier(3);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      HttpServer hanging =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      hanging.setExecutor(threads);
      hanging.createContext(
          "/",
          exchange -> {
            try (exchange) {
              int _ = allAreAsked.await(2, TimeUnit.MINUTES);
              exchange.sendResponseHeaders(503, -1);
            } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
              throw new IOException(e);
            }
          });
      hanging.start();
      Address address = new Address("127.0.0.1", hanging.getAddress().getPort());
      var part = new Coverage.Part(address, new TreeSet<>(Set.of(0)));

      assertThat(peers.summaries(List.of(part, part, part)))
          .allSatisfy(
              answer ->
                  assertThat(answer).isEqualTo(new Peers.PeerAnswer.Silent(address, "HTTP 503")));
      hanging.stop(0);
    }
  }

  @Test
  void anotherInstance_isShownThisOnesToken_whoItIs_andWhatItIsTakenToHave() {
    answer = EMPTY.getBytes(US_ASCII);

    assertThat(dead().items()).isEmpty();

    assertThat(asked.getFirst("Authorization")).isEqualTo("Bearer the-peers");
    assertThat(asked.getFirst(Peers.ASKED_BY_ONE)).isEqualTo("orders/a");
    assertThat(asked.getFirst(Peers.ASKED_FOR)).isEqualTo("0,2");
  }

  @Test
  void withoutATokenOfItsOwn_anotherInstanceIsNotAsked_whereTokensAreNeeded() {
    Peers tokenless = peers(Optional.empty());

    assertThatThrownBy(() -> tokenless.list(part(), "dead", 10, null))
        .isInstanceOf(Problem.class)
        .hasMessageContaining("partitions [0, 2] are with instance 127.0.0.1:")
        .hasMessageContaining("give firstclaim.audit.token-file");
    assertThat(asked).isEmpty();
  }

  @Test
  void refusal_isPassedOnWithItsReason() {
    status = 409;
    answer = "{\"error\":\"this is an instance of orders/b\"}".getBytes(US_ASCII);

    assertThatThrownBy(this::dead)
        .isInstanceOf(Problem.class)
        .hasMessageContaining("HTTP 409 this is an instance of orders/b");
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
