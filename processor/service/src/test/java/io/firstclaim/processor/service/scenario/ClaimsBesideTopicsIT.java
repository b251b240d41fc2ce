package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.Fingerprint;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A zone that serves claims over HTTP beside its topics: an ID is one, whoever claims it. */
class ClaimsBesideTopicsIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 1);

  @TempDir Path folder;

  /** The answer to a request, which is sent again as long as the store is too slow for it. */
  private static JsonNode post(Zone zone, int status, String path, String body) throws IOException {
    HttpRequest request =
        HttpRequest.newBuilder(zone.uri(path))
            .header("Authorization", "Bearer " + ClaimProcess.TOKEN)
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", UUID.randomUUID().toString())
            .POST(BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> answer =
        Scenario.await(path).until(() -> zone.send(request), given -> given.statusCode() != 503);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return JSON.readTree(answer.body());
  }

  private static String claim(Zone zone, String id) throws IOException {
    // As the feed will send it.
    Fingerprint payload = Fingerprint.of(("value of " + id).getBytes(UTF_8));
    String body = "{\"lease\":\"1h\",\"fingerprint\":\"%s\"}".formatted(payload);
    String path = "/api/claims/" + id;
    return path + "/" + post(zone, 201, path, body).path("handle").asText();
  }

  @Test
  void recordThatIsDoneOverHttp_isNotHandled_andOneThatIsHeldThereWaits() throws IOException {
    Path tokens =
        Files.writeString(folder.resolve("tokens"), Zone.tokenLine("carl", ClaimProcess.TOKEN));
    Zone zone =
        scenario
            .zone("a")
            .set("FIRSTCLAIM_CLAIMS_HTTP", "true")
            .set("FIRSTCLAIM_ADMIN_TOKEN_FILE", tokens.toAbsolutePath().toString());
    scenario.start();
    post(zone, 200, claim(zone, "done") + "/complete", "{\"result\":\"by a client\"}");
    String held = claim(zone, "held");

    scenario.feed().send(List.of("done", "held", "free"));
    scenario.awaitCompleted(List.of("free"));

    assertThat(scenario.sink().callsOf("held")).as("a client has it").isEmpty();
    post(zone, 200, held + "/release", "{\"cause\":\"over to the topic\"}");
    scenario.awaitCompleted(List.of("held"));
    assertThat(scenario.sink().callsOf("held")).hasSize(1);
    assertThat(scenario.sink().callsOf("done")).as("a client has done it").isEmpty();
    scenario.eventually(
        "all of it is committed",
        () -> assertThat(scenario.committed(zone).values()).containsExactly(end()));
    JsonNode later = post(zone, 200, "/api/claims/free", fingerprinted("free"));
    assertThat(later.path("state").asText()).isEqualTo("DONE");
  }

  private static String fingerprinted(String id) {
    return "{\"fingerprint\":\"%s\"}".formatted(Fingerprint.of(("value of " + id).getBytes(UTF_8)));
  }

  /** The end of the input topic: the warm-up's records, and the test's. */
  private long end() {
    return scenario.feed().places().stream().mapToLong(Feed.Place::offset).max().orElseThrow() + 1;
  }
}
