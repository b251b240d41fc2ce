package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.processor.service.cli.Firstclaim;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Somebody with an operator's token, who asks and steers zones over HTTP; and again as long as the
 * answer is 503, which it is where a machine is too slow for a limit.
 */
final class Operator {
  /** What {@link Zone#operatedWith} is to be given. */
  static final String TOKEN = "an-operators";

  /** The token of somebody who may only look. */
  static final String READER = "a-readers";

  private static final ObjectMapper JSON = new ObjectMapper();

  private Operator() {}

  /** The answer, which must be a good one. */
  static JsonNode get(Zone zone, String path) throws IOException {
    return good(path, answered(request(zone, "GET", path, null), zone));
  }

  private static JsonNode good(String path, HttpResponse<String> answer) throws IOException {
    assertThat(answer.statusCode()).as("%s: %s", path, answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body());
  }

  /** The lines of the metrics, which a reader may see. */
  static Stream<String> metrics(Zone zone) throws IOException {
    return zone.send(
            HttpRequest.newBuilder(zone.uri("/prometheus"))
                .header("Authorization", "Bearer " + READER)
                .build())
        .body()
        .lines();
  }

  /** What only the asked instance itself knows of a list. */
  static JsonNode ownPart(Zone zone, String application, String path) throws IOException {
    return good(
        path,
        answered(
            request(zone, "GET", path, null)
                .header("Firstclaim-Asked-By-Instance", application + "/" + zone.name()),
            zone));
  }

  /** The answer to an act, which must be a good one. */
  static JsonNode act(Zone zone, String path, Map<String, ?> body) throws IOException {
    HttpResponse<String> answer = answered(post(zone, path, body), zone);
    assertThat(answer.statusCode()).as("%s: %s", path, answer.body()).isLessThan(300);
    return JSON.readTree(answer.body());
  }

  /** The answer to a dry run that has counted all: a busy machine may have no time for that. */
  static JsonNode tryOut(Zone zone, String path, Map<String, ?> body) {
    return Scenario.await(path + " counts all")
        .until(() -> act(zone, path, body), tried -> tried.path("isAll").asBoolean());
  }

  /**
   * Has a record redriven; returns it as it is then. What was answered by 503 may be done all the
   * same: then the record is not dead any more, and is not redriven again.
   */
  static JsonNode redrive(Zone zone, String id, Map<String, ?> body) throws IOException {
    String path = "/api/records/" + id;
    HttpRequest.Builder act = post(zone, path + "/redrive", body);
    HttpResponse<String> first = zone.send(act.build());
    boolean mayBeDone = first.statusCode() == 503;
    HttpResponse<String> answer = mayBeDone ? answered(act, zone) : first;
    if (answer.statusCode() == 202) {
      var _ = done(zone, answer);
    }
    boolean isAskedFor = answer.statusCode() == 202 || (mayBeDone && answer.statusCode() == 409);
    return isAskedFor ? get(zone, path) : good(path, answer);
  }

  /** The redrive that takes longer than its request, once it is done. */
  private static JsonNode done(Zone zone, HttpResponse<String> accepted) throws IOException {
    String path = "/api/redrives/" + JSON.readTree(accepted.body()).path("id").asText();
    return Scenario.await(path + " is done")
        .until(() -> get(zone, path), now -> now.path("state").asText().equals("DONE"));
  }

  /** Has a record redriven that its topic does not take; fails unless that is what comes of it. */
  static void requireUnpublishable(Zone zone, String id) throws IOException {
    String path = "/api/records/" + id + "/redrive";
    HttpResponse<String> answer = answered(post(zone, path, Map.of("reason", "fixed")), zone);
    if (answer.statusCode() == 202) {
      JsonNode done = done(zone, answer);
      assertThat(done.path("failed").asInt()).as("%s", done).isEqualTo(1);
    } else {
      assertThat(answer.statusCode()).as("%s: %s", path, answer.body()).isEqualTo(409);
    }
    // One that was answered by 503 may have begun, and must not find a topic that takes it again.
    Scenario.await("no redrive goes on")
        .untilAsserted(
            () ->
                assertThat(get(zone, "/api/redrives").path("items").findValuesAsText("state"))
                    .doesNotContain("RUNNING"));
  }

  /** An act that was not done, and why. */
  record Refusal(int status, String error) {}

  /** The answer to an act that is not to be done. */
  static Refusal refusal(Zone zone, String path, Map<String, ?> body) throws IOException {
    return refusal(answered(post(zone, path, body), zone));
  }

  /** The same, but the first answer, whatever it is. */
  static Refusal firstRefusal(Zone zone, String path, Map<String, ?> body) throws IOException {
    return refusal(zone.send(post(zone, path, body).build()));
  }

  private static Refusal refusal(HttpResponse<String> answer) throws IOException {
    return new Refusal(answer.statusCode(), JSON.readTree(answer.body()).path("error").asText());
  }

  /** The status of the answer to an act. */
  static int statusOf(Zone zone, String path, Map<String, ?> body) throws IOException {
    return answered(post(zone, path, body), zone).statusCode();
  }

  /** The status of the first answer, whatever it is. */
  static int firstStatusOfGet(Zone zone, String path) throws IOException {
    return zone.send(request(zone, "GET", path, null).build()).statusCode();
  }

  /** The exit code of {@code admin} with these arguments, sent to a zone. */
  static int command(Zone zone, String... args) {
    List<String> all = new ArrayList<>(List.of("admin"));
    all.addAll(List.of(args));
    all.addAll(List.of("--url", zone.uri("").toString()));
    return Firstclaim.run(
        _ -> 1, Map.of("FIRSTCLAIM_ADMIN_TOKEN", TOKEN), all.toArray(String[]::new));
  }

  private static HttpResponse<String> answered(HttpRequest.Builder request, Zone zone) {
    HttpRequest asked = request.build();
    return Scenario.await(asked.toString())
        .until(() -> zone.send(asked), given -> given.statusCode() != 503);
  }

  private static HttpRequest.Builder post(Zone zone, String path, Map<String, ?> body)
      throws IOException {
    return request(zone, "POST", path, JSON.writeValueAsString(body));
  }

  private static HttpRequest.Builder request(
      Zone zone, String method, String path, @Nullable String body) {
    return HttpRequest.newBuilder(zone.uri(path))
        .header("Authorization", "Bearer " + TOKEN)
        .header("Content-Type", "application/json")
        .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
  }
}
