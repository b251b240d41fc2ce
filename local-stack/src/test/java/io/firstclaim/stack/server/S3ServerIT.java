package io.firstclaim.stack.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.lock.testkit.process.StackException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class S3ServerIT {
  private static final int WRITERS = 16;

  private static S3Server server;

  /**
   * Of this test alone: the server closes a connection that was idle for half a minute, and a
   * client that uses it again at that moment does not know whether its write took.
   */
  private final HttpClient http = HttpClient.newHttpClient();

  @BeforeAll
  static void startServer() {
    server = S3Server.start(JvmTuning.SHORT_RUN);
  }

  @AfterAll
  static void closeServer() {
    server.close();
  }

  @AfterEach
  void closeClient() {
    http.close();
  }

  private record Condition(String header, String value) {}

  @Test
  void conditionalWritersOfOneKey_haveOneWinner_everyTime() throws Exception {
    server.createBucket("raced");
    URI object = server.endpoint().resolve("/raced/some/key");

    List<String> won = race(object, new Condition("If-None-Match", "*"));
    for (int round = 0; round < 20; round++) {
      assertThat(won).hasSize(1);
      won = race(object, new Condition("If-Match", won.getFirst()));
    }
  }

  @Test
  void writeOnAMissingKey_isAnswered404_asByS3() throws Exception {
    server.createBucket("empty");

    var answer =
        put(server.endpoint().resolve("/empty/key"), new Condition("If-Match", "\"any\""), "1");

    assertThat(answer.statusCode()).isEqualTo(404);
    assertThat(answer.body()).contains("<Code>NoSuchKey</Code>");
  }

  @Test
  void deleteWithoutCondition_isTaken_whateverWasComparedBefore() throws Exception {
    server.createBucket("deleted");
    URI object = server.endpoint().resolve("/deleted/key");

    for (int round = 0; round < 50; round++) {
      List<String> won = race(object, new Condition("If-None-Match", "*"));
      race(object, new Condition("If-Match", won.getFirst()));
      assertThat(delete(object, "If-Match", won.getFirst())).isEqualTo(412);

      assertThat(delete(object)).isEqualTo(204);
    }
  }

  @Test
  void bucketsAreGone_afterRestart() {
    try (S3Server restarted = S3Server.start(JvmTuning.SHORT_RUN)) {
      restarted.createBucket("bucket");
      assertThatThrownBy(() -> restarted.createBucket("bucket"))
          .isInstanceOf(StackException.class)
          .hasMessage("bucket bucket cannot be created: status 409");

      restarted.pause();
      restarted.resume();
      restarted.kill();
      restarted.restart();

      restarted.createBucket("bucket");
    }
  }

  /** The ETags of those whose write took. */
  private List<String> race(URI object, Condition condition) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<HttpResponse<String>>> writers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        String body = condition.value() + i;
        writers.add(threads.submit(() -> put(object, condition, body)));
      }
      List<String> won = new ArrayList<>();
      for (var writer : writers) {
        HttpResponse<String> answer = writer.get();
        assertThat(answer.statusCode()).isIn(200, 412);
        if (answer.statusCode() == 200) {
          won.add(answer.headers().firstValue("ETag").orElseThrow());
        }
      }
      return won;
    }
  }

  private HttpResponse<String> put(URI object, Condition condition, String body) throws Exception {
    return http.send(
        HttpRequest.newBuilder(object)
            .PUT(BodyPublishers.ofString(body))
            .header(condition.header(), condition.value())
            .build(),
        BodyHandlers.ofString());
  }

  private int delete(URI object, String... headers) throws Exception {
    var request = HttpRequest.newBuilder(object).DELETE();
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), BodyHandlers.discarding()).statusCode();
  }
}
