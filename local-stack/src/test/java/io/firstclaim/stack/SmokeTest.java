package io.firstclaim.stack;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code docker/smoke} where the engine fails, which a script in its place plays. */
class SmokeTest {
  /** Plays a stack that works, but that nobody listens at its ports. */
  private static final String STACK =
      """
      case "$*" in
        ps*) echo container ;;
        port*) echo 127.0.0.1:1 ;;
        'exec -u root'*) echo token ;;
        *cat*) exit 1 ;;
        *prometheus) echo 'firstclaim_deliveries_total{result="completed"} 100' ;;
      """;

  @TempDir private Path directory;

  private record Run(int exitCode, String output) {}

  @BeforeEach
  void noDocker_andPodmanComposeThatAlwaysSucceeds() throws IOException {
    program("docker", "exit 1");
    program("podman-compose", "exit 0");
  }

  @Test
  void imageThatCannotBeBuilt_isSaidAtOnce() throws Exception {
    program("podman", "[ $1 = build ] || exit 0; echo no space left; exit 125");

    Run run = smoke();
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.output())
        .contains("no space left")
        .contains("FAILED: the image firstclaim/processor cannot be built");
  }

  @Test
  void containerThatIsNotThere_isSaidAtOnce() throws Exception {
    program("podman", "exit 0");

    Run run = smoke();
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.output()).contains("FAILED: kafka was not started");
  }

  @Test
  void pageThatIsNotServed_isSaid() throws Exception {
    program("podman", STACK + "esac");

    Run run = smoke();
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.output()).contains("both zones work").contains("FAILED: the page is not served");
  }

  @Test
  void pageThatAnswersTheOperatorAlone_isRight_andPrometheusThatCannotBeHadIsLeftOut()
      throws Exception {
    HttpServer page =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    page.createContext("/", SmokeTest::answer);
    page.start();
    try {
      program(
          "podman",
          STACK.replace("127.0.0.1:1", "127.0.0.1:" + page.getAddress().getPort())
              + "image*|pull*|kill*) exit 1; esac");

      Run run = smoke();
      assertThat(run.exitCode()).isEqualTo(1); // at the kill
      assertThat(run.output())
          .contains("the page is served, and the API answers the operator alone")
          .containsPattern(
              "Prometheus is left out: the image docker.io/prom/prometheus:\\S+ is not");
    } finally {
      page.stop(0);
    }
  }

  private static void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      boolean open = exchange.getRequestURI().getPath().equals("/");
      String shown = exchange.getRequestHeaders().getFirst("Authorization");
      exchange.getResponseHeaders().add("Content-Security-Policy", "default-src 'none'");
      exchange.sendResponseHeaders(open || "Bearer token".equals(shown) ? 200 : 401, -1);
    }
  }

  @Test
  void operatorsTokenThatTheProcessorCanRead_isSaid() throws Exception {
    program("podman", STACK.replace("*cat*) exit 1", "*cat*) echo token") + "esac");

    Run run = smoke();
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.output()).contains("FAILED: the processor can read the operator's token");
  }

  private void program(String name, String script) throws IOException {
    Path file = directory.resolve(name);
    Files.writeString(file, "#!/bin/sh\n" + script + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private Run smoke() throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder("../docker/smoke", "dynamodb");
    Map<String, String> environment = builder.environment();
    environment.put("PATH", directory + ":" + environment.get("PATH"));
    environment.put("TMPDIR", directory.toString());
    Process process = builder.redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Run(process.waitFor(), output);
  }
}
