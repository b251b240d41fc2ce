package io.firstclaim.processor.service.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.firstclaim.lock.Claim;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.service.cli.Firstclaim;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import io.micronaut.test.support.TestPropertyProvider;
import jakarta.inject.Inject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The command line, against the service's HTTP. */
@MicronautTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AdminCommandTest implements TestPropertyProvider {
  private static final Path TOKENS = Path.of("target", "tokens", "of-the-command-line");

  @Inject Api api;
  @Inject MemoryClaimStore claims;
  @TempDir Path folder;

  @Override
  public Map<String, String> getProperties() {
    return Api.tokensOfItsOwn(TOKENS);
  }

  private int run(Map<String, String> variables, String... args) {
    List<String> all = new ArrayList<>(List.of("admin"));
    all.addAll(List.of(args));
    all.add("--url");
    all.add("http://127.0.0.1:" + api.port());
    return Firstclaim.run(_ -> 0, variables, all.toArray(String[]::new));
  }

  private int read(String... args) {
    return run(Map.of("FIRSTCLAIM_ADMIN_TOKEN", Api.READER), args);
  }

  private int redrive(String... args) {
    List<String> all = new ArrayList<>(List.of("redrive", "--reason", "fixed"));
    all.addAll(List.of(args));
    return read(all.toArray(String[]::new));
  }

  @Test
  void whatIsThere_isZero_andWhatIsNot_isOne() {
    var _ =
        claims.claim(Claim.of(RecordId.of("a b"), Fingerprint.none(), TimeSource.system().now()));

    assertThat(read("record", "a b")).isZero();
    assertThat(read("record", "nobody")).isOne();
    assertThat(read("summary")).isZero();
    assertThat(read("progress", "none")).isOne();
  }

  @Test
  void refusal_isOne() {
    assertThat(run(Map.of(), "summary")).isOne();
    assertThat(read("pause", "--reason", "tired")).isOne();
    assertThat(Firstclaim.run(_ -> 0, Map.of(), "admin", "summary", "--url", "http://127.0.0.1:1"))
        .isOne();
  }

  @Test
  void wrongCall_isTwo() {
    assertThat(read("pause")).isEqualTo(2);
    assertThat(read("record")).isEqualTo(2);
    assertThat(read("no-such-thing")).isEqualTo(2);
    assertThat(read("held", "--limit", "0")).isEqualTo(2);
    assertThat(read("release", "x", "--reason", "stuck", "--token", "four")).isEqualTo(2);
    assertThat(redrive("x", "--dry-run", "--may-be-done")).isEqualTo(2);
    assertThat(redrive("x", "y", "--may-be-done")).isEqualTo(2);
    assertThat(redrive("x", "--rate", "5")).isEqualTo(2);
    assertThat(redrive("x", "--topic", "orders")).isEqualTo(2);
    assertThat(redrive("x", "y", "--limit", "1")).isEqualTo(2);
    assertThat(read("dismiss", "x", "--reason", "old", "--dry-run")).isEqualTo(2);
    assertThat(read("dismiss", "x", "y", "--reason", "old")).isEqualTo(2);
    assertThat(read("dismiss", "x", "--reason", "old", "--cause", "410")).isEqualTo(2);
  }

  @Test
  void release_isOfTheGrantThatIsNamed_orOfWhicheverThereIs() throws IOException {
    List<String> sent = new CopyOnWriteArrayList<>();
    HttpServer instance =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    instance.createContext(
        "/api/records/x/release",
        exchange -> {
          sent.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
          exchange.sendResponseHeaders(200, 0);
          try (var body = exchange.getResponseBody()) {
            body.write("{}".getBytes(UTF_8));
          }
        });
    instance.start();
    try {
      String url = "http://127.0.0.1:" + instance.getAddress().getPort();
      String[] any = {"admin", "release", "x", "--reason", "stuck", "--url", url};
      String[] one = {"admin", "release", "x", "--reason", "stuck", "--url", url, "--token", "4"};

      assertThat(Firstclaim.run(_ -> 0, Map.of(), any)).isZero();
      assertThat(Firstclaim.run(_ -> 0, Map.of(), one)).isZero();
    } finally {
      instance.stop(0);
    }
    assertThat(sent)
        .containsExactly("{\"reason\":\"stuck\"}", "{\"reason\":\"stuck\",\"token\":4}");
  }

  @Test
  void token_mayComeFromAFile() throws Exception {
    Path token = Files.writeString(folder.resolve("token"), Api.READER + "\n");

    assertThat(run(Map.of(), "summary", "--token-file", token.toString())).isZero();
  }

  @Test
  void tokenThatItMakes_isPrinted_andLetsItsOwnerIn() {
    PrintStream terminal = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, UTF_8));
    try {
      assertThat(make("admin", "token", "tom", "--role", "reader", "--add-to", TOKENS.toString()))
          .isZero();
    } finally {
      System.setOut(terminal);
    }

    await()
        .atMost(Duration.ofMinutes(5))
        .untilAsserted(
            () ->
                assertThat(
                        run(
                            Map.of("FIRSTCLAIM_ADMIN_TOKEN", printed.toString(UTF_8).strip()),
                            "summary"))
                    .isZero());
    assertThat(make("admin", "token", "tom", "--role", "king", "--add-to", TOKENS.toString()))
        .isEqualTo(2);
    assertThat(make("admin", "token", "t o m", "--role", "reader", "--add-to", TOKENS.toString()))
        .isEqualTo(2);
    assertThat(make("admin", "token", "tom", "--role", "reader")).isEqualTo(2);
  }

  private static int make(String... args) {
    return Firstclaim.run(_ -> 0, Map.of(), args);
  }
}
