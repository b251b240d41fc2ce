package io.firstclaim.processor.service.admin;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micronaut.context.annotation.Property;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@MicronautTest
@Property(name = "micronaut.server.read-idle-timeout", value = "1s")
class SlowClientTest {
  private final Api api;

  SlowClientTest(Api api) {
    this.api = api;
  }

  /** Sends the beginning, and then a byte now and then; fails if it is let do so. */
  private static void requireClosed(Socket socket, String beginning) throws IOException {
    socket.setSoTimeout(10);
    socket.getOutputStream().write(beginning.getBytes(ISO_8859_1));
    await()
        .atMost(Duration.ofMinutes(5))
        .pollInterval(Duration.ofMillis(50))
        .until(() -> isClosedAfterAByteMore(socket));
  }

  private static boolean isClosedAfterAByteMore(Socket socket) {
    try {
      socket.getOutputStream().write('x');
      return socket.getInputStream().read() < 0;
    } catch (java.net.SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "GET / HT",
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
        "POST /api/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
      })
  void requestThatComesByteByByte_isCutOff(String beginning) throws IOException {
    try (Socket socket = new RawClient(api.port()).connect()) {
      requireClosed(socket, beginning);
    }
  }

  /** One that is answered early, and then ends, is no whole request that is yet to be answered. */
  @ParameterizedTest
  @CsvSource({"HEAD / HTTP/1.1,200,''", "POST /api/pause HTTP/1.1|Content-Length: 1,403,x"})
  void secondRequestOfAConnection_isCutOffToo(String first, int status, String rest) {
    String request = first.replace("|", "\r\n") + "\r\nHost: localhost\r\n\r\n";
    await()
        .atMost(Duration.ofMinutes(10))
        .ignoreExceptionsInstanceOf(SocketException.class)
        .until(
            () -> {
              try (Socket socket = new RawClient(api.port()).connect()) {
                String answer = RawClient.answer(socket, request);
                if (answer.isEmpty()) { // cut off at its first, as this thread stood still
                  return false;
                }
                assertThat(answer).startsWith("HTTP/1.1 " + status);
                requireClosed(socket, rest + "GET / HTTP/1.1\r\nX: ");
                return true;
              }
            });
  }
}
