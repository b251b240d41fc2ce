package io.firstclaim.micronaut.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Applications on real servers, with the health endpoint of Micronaut's own. */
class HealthTest {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private final FaultyStore store =
      new FaultyStore(new MemoryClaimStore(ClaimSettings.of("shop", "a1"), TimeSource.system()));
  private final List<EmbeddedServer> servers = new ArrayList<>();

  private void start(String... settings) {
    Map<String, Object> all = new HashMap<>();
    all.put("kafka.enabled", false);
    all.put("micronaut.security.enabled", false);
    all.put("micronaut.server.port", -1);
    all.put("micronaut.server.host", "127.0.0.1");
    all.put("endpoints.health.details-visible", "ANONYMOUS");
    for (int i = 0; i < settings.length; i += 2) {
      all.put(settings[i], settings[i + 1]);
    }
    servers.add(
        ApplicationContext.builder()
            .deduceEnvironment(false)
            .properties(all)
            .singletons(store)
            .start()
            .getBean(EmbeddedServer.class)
            .start());
  }

  @AfterEach
  void stop() {
    servers.forEach(server -> server.getApplicationContext().close());
  }

  private HttpRequest to(String path) {
    return HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:%d%s".formatted(servers.getFirst().getPort(), path)))
        .timeout(Duration.ofMinutes(5))
        .build();
  }

  private HttpResponse<String> get(String path) throws Exception {
    return CLIENT.send(to(path), BodyHandlers.ofString());
  }

  private static String ours(HttpResponse<String> answer) {
    return answer.body().replaceFirst(".*\"firstclaim\":(\\{[^{}]*(\\{[^{}]*})?[^{}]*}).*", "$1");
  }

  @Test
  void healthIsUp_whileTheStoreAnswers_andDownWithTheCauseWhileItDoesNot() throws Exception {
    start();
    assertThat(get("/health"))
        .returns(200, HttpResponse::statusCode)
        .extracting(HealthTest::ours)
        .asString()
        .contains("\"status\":\"UP\"");

    store.setDown(true);
    assertThat(get("/health"))
        .returns(503, HttpResponse::statusCode)
        .extracting(HealthTest::ours)
        .asString()
        .contains(
            "\"status\":\"DOWN\"",
            "\"error\":\"io.firstclaim.lock.StoreUnavailableException: no answer\"");

    store.setDown(false);
    store.setDenies(true);
    assertThat(get("/health"))
        .returns(503, HttpResponse::statusCode)
        .extracting(HealthTest::ours)
        .asString()
        .contains("\"status\":\"DOWN\"", "StoreRefusedException");

    store.setDenies(false);
    assertThat(get("/health").statusCode()).isEqualTo(200);
  }

  @Test
  void storeThatIsAway_isOfNeitherLivenessNorReadiness() throws Exception {
    start();
    store.setDown(true);

    for (String kind : new String[] {"/health/liveness", "/health/readiness"}) {
      assertThat(get(kind))
          .returns(200, HttpResponse::statusCode)
          .extracting(HttpResponse::body)
          .asString()
          .contains("\"status\":\"UP\"")
          .doesNotContain("firstclaim");
    }
    assertThat(store.calls()).isZero();
  }

  @Test
  void storeThatTakesItsTime_holdsUpNoOtherRequest() throws Exception {
    start("micronaut.netty.event-loops.default.num-threads", "1");
    FaultyStore.Hold hold = store.hold(FaultyStore.Op.FIND);
    var waits = CLIENT.sendAsync(to("/health"), BodyHandlers.ofString());
    Awaitility.await().atMost(Duration.ofMinutes(5)).until(() -> hold.arrived() == 1);

    assertThat(get("/health/readiness").statusCode()).isEqualTo(200);
    assertThat(waits).isNotDone();

    hold.release();
    assertThat(waits.get().statusCode()).isEqualTo(200);
  }

  @Test
  void indicatorThatIsSwitchedOff_asksNothing() throws Exception {
    start("endpoints.health.firstclaim.enabled", "false");
    store.setDown(true);

    assertThat(get("/health"))
        .returns(200, HttpResponse::statusCode)
        .extracting(HttpResponse::body)
        .asString()
        .doesNotContain("firstclaim");
    assertThat(store.calls()).isZero();
  }
}
