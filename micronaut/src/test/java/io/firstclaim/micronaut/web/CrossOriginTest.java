package io.firstclaim.micronaut.web;

import static io.firstclaim.lock.testkit.framework.WebInstance.isReplayed;
import static io.firstclaim.lock.testkit.framework.WebInstance.send;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.micronaut.IdempotencyKey;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.runtime.server.EmbeddedServer;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Pages of several origins that send a key. */
class CrossOriginTest {
  private static final String LETS = "Access-Control-Allow-Origin";
  private static final String ONE = "https://one.example";
  private static final String OTHER = "https://other.example";

  @Requires(property = "web", value = "cross-origin")
  @Controller
  @Consumes(MediaType.ALL)
  static class Payments {
    private final AtomicInteger calls = new AtomicInteger();

    @Post("/payments")
    @IdempotencyKey
    String pay(@Body String payment) {
      return payment + calls.incrementAndGet();
    }
  }

  private static HttpResponse<String> post(EmbeddedServer server, String origin) throws Exception {
    return send(
        Shop.to(server, "/payments", "k-1")
            .header("Origin", origin)
            .POST(BodyPublishers.ofString("p")));
  }

  @Test
  void eachAnswer_letsTheOriginOfItsOwnRequest_once() throws Exception {
    try (Shop shop = new Shop("cross-origin")) {
      EmbeddedServer server =
          shop.open(
              "one",
              "micronaut.server.cors.enabled",
              "true",
              "micronaut.server.cors.configurations.web.allowed-origins",
              ONE + "," + OTHER);

      HttpResponse<String> first = post(server, ONE);
      HttpResponse<String> again = post(server, OTHER);

      assertThat(first.headers().allValues(LETS)).containsExactly(ONE);
      assertThat(isReplayed(again)).isTrue();
      assertThat(again.body()).isEqualTo(first.body()).isEqualTo("p1");
      assertThat(again.headers().allValues(LETS)).containsExactly(OTHER);
    }
  }
}
