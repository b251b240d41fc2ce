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

/** Somebody with an operator's token, who asks and steers zones over HTTP. */
final class Operator {
  /** What {@link Zone#operatedWith} is to be given. */
  static final String TOKEN = "an-operators";

  /** The token of somebody who may only look. */
  static final String READER = "a-readers";

  private static final ObjectMapper JSON = new ObjectMapper();

  private Operator() {}

  /** The answer, which must be a good one. */
  static JsonNode get(Zone zone, String path) throws IOException {
    return good(path, send(zone, "GET", path, null));
  }

  /** The same, asked for until no peer is late with its part, which is 503. */
  static JsonNode getOfAll(Zone zone, String path) throws IOException {
    return good(
        path,
        Scenario.await(path)
            .until(() -> send(zone, "GET", path, null), given -> given.statusCode() != 503));
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
    return JSON.readTree(
        zone.send(
                request(zone, "GET", path, null)
                    .header("Firstclaim-Asked-By-Instance", application + "/" + zone.name())
                    .build())
            .body());
  }

  /** The answer to an act, which must be a good one. */
  static JsonNode act(Zone zone, String path, Map<String, ?> body) throws IOException {
    HttpResponse<String> answer = send(zone, "POST", path, JSON.writeValueAsString(body));
    assertThat(answer.statusCode()).as("%s: %s", path, answer.body()).isLessThan(300);
    return JSON.readTree(answer.body());
  }

  /** An act that was not done, and why. */
  record Refusal(int status, String error) {}

  /** The answer to an act that is not to be done. */
  static Refusal refusal(Zone zone, String path, Map<String, ?> body) throws IOException {
    HttpResponse<String> answer = send(zone, "POST", path, JSON.writeValueAsString(body));
    return new Refusal(answer.statusCode(), JSON.readTree(answer.body()).path("error").asText());
  }

  /** The status of the answer to an act. */
  static int statusOf(Zone zone, String path, Map<String, ?> body) throws IOException {
    return send(zone, "POST", path, JSON.writeValueAsString(body)).statusCode();
  }

  /** The status of an answer. */
  static int statusOfGet(Zone zone, String path) throws IOException {
    return send(zone, "GET", path, null).statusCode();
  }

  /** The exit code of {@code admin} with these arguments, sent to a zone. */
  static int command(Zone zone, String... args) {
    List<String> all = new ArrayList<>(List.of("admin"));
    all.addAll(List.of(args));
    all.addAll(List.of("--url", zone.uri("").toString()));
    return Firstclaim.run(
        _ -> 1, Map.of("FIRSTCLAIM_ADMIN_TOKEN", TOKEN), all.toArray(String[]::new));
  }

  private static HttpResponse<String> send(
      Zone zone, String method, String path, @Nullable String body) throws IOException {
    return zone.send(request(zone, method, path, body).build());
  }

  private static HttpRequest.Builder request(
      Zone zone, String method, String path, @Nullable String body) {
    return HttpRequest.newBuilder(zone.uri(path))
        .header("Authorization", "Bearer " + TOKEN)
        .header("Content-Type", "application/json")
        .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
  }
}
