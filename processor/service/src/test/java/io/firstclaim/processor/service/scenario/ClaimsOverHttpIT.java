package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.io.File;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The package as a server of claims alone, on the stores that processes share. */
@Order(3)
class ClaimsOverHttpIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path EXAMPLES = Path.of("..", "..", "examples", "any-language");

  /** A claim that a busy machine does not outlast. */
  private static final String LONG = "{\"lease\":\"10m\",\"holder\":\"h\"}";

  @TempDir Path folder;

  private static JsonNode json(HttpResponse<String> answer, int status) throws IOException {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return JSON.readTree(answer.body());
  }

  private static JsonNode post(
      ClaimProcess server, int status, String path, @Nullable String body, String key)
      throws IOException {
    return json(answered(server, "POST", path, body, Map.of("Idempotency-Key", key)), status);
  }

  /** The answer to a request, which is sent again as long as the store is too slow for it. */
  private static HttpResponse<String> answered(
      ClaimProcess server,
      String method,
      String path,
      @Nullable String body,
      Map<String, String> headers)
      throws IOException {
    return Scenario.await(path)
        .until(() -> server.send(method, path, body, headers), given -> given.statusCode() != 503);
  }

  @OneBackend(Backend.S3)
  void claims_locksAndDocuments_areOneForAllInstances_thoughTheStoresAnswersAreLost(Backend backend)
      throws Exception {
    String place = "claims-over-http";
    try (FaultProxy store = FaultProxy.start(backend.endpoint())) {
      Map<String, String> through = new HashMap<>(backend.settings(place));
      through.put(backend.endpointVariable(), store.endpoint().toString());
      Map<String, String> apart = new HashMap<>(backend.settings(place));
      apart.put("FIRSTCLAIM_CLAIM_NAMESPACE", "another");
      try (ClaimProcess one = ClaimProcess.start(folder, "one", through);
          ClaimProcess other = ClaimProcess.start(folder, "other", backend.settings(place));
          ClaimProcess stranger = ClaimProcess.start(folder, "stranger", apart)) {
        oneClaimOfFifty(one, other);
        lifeOfAClaim(one, other, stranger);
        lifeOfALock(one, other);
        documents(one, other, stranger);

        store.add(Rule.always(Match.oneIn(3), new Fault.ResetAfterApply()));
        for (int i = 0; i < 5; i++) {
          lifeOfAClaim(one, other, stranger);
          lifeOfALock(one, other);
        }
      }
    }
  }

  private static void oneClaimOfFifty(ClaimProcess one, ClaimProcess other) throws Exception {
    List<Integer> statuses = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(25)) {
      List<Callable<Integer>> claims = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        ClaimProcess asked = i % 2 == 0 ? one : other;
        Map<String, String> key = Map.of("Idempotency-Key", "client-" + i);
        claims.add(() -> answered(asked, "POST", "/api/claims/crowd", LONG, key).statusCode());
      }
      for (Future<Integer> each : threads.invokeAll(claims)) {
        statuses.add(each.get());
      }
    }
    assertThat(statuses).containsOnlyOnce(201);
    assertThat(statuses).filteredOn(status -> status != 201).hasSize(49).containsOnly(409);
  }

  private static void lifeOfAClaim(ClaimProcess one, ClaimProcess other, ClaimProcess stranger)
      throws IOException {
    String path = "/api/claims/" + UUID.randomUUID();
    String body =
        "{\"lease\":\"10m\",\"resources\":[\"account-%s\"],\"holder\":\"h\"}"
            .formatted(UUID.randomUUID());
    JsonNode first = post(one, 201, path, body, "k");
    assertThat(post(one, 201, path, body, "k")).isEqualTo(first);
    post(other, 409, path, body, "another");
    String handle = path + "/" + first.path("handle").asText();
    post(one, 200, handle + "/renew", null, "r");
    post(other, 200, handle + "/renew", null, "r"); // any instance takes the next step
    post(one, 200, handle + "/release", "{}", "f");
    post(one, 200, handle + "/release", "{}", "f");
    post(other, 409, handle + "/complete", "{}", "c");

    JsonNode second = post(other, 201, path, body, "k2");
    assertThat(second.path("token").asInt()).isEqualTo(2);
    assertThat(second.path("attempt").asInt()).isEqualTo(2);
    String next = path + "/" + second.path("handle").asText();
    post(one, 200, next + "/complete", "{\"result\":\"r\"}", "c");
    post(one, 200, next + "/complete", "{\"result\":\"r\"}", "c");
    assertThat(post(other, 200, path, body, "k3").path("result").asText()).isEqualTo("r");
    assertThat(post(stranger, 201, path, body, "k").path("token").asInt()).isEqualTo(1);
  }

  private static void lifeOfALock(ClaimProcess one, ClaimProcess other) throws IOException {
    String path = "/api/locks/" + UUID.randomUUID();
    JsonNode taken = post(one, 201, path, LONG, "k");
    assertThat(post(one, 201, path, LONG, "k")).isEqualTo(taken);
    assertThat(post(other, 409, path, "{\"wait\":\"1s\"}", "o").path("holder").asText())
        .isEqualTo("h");
    assertThat(json(answered(other, "GET", path, null, Map.of()), 200).path("holder").asText())
        .isEqualTo("h");
    String handle = path + "/" + taken.path("handle").asText();
    post(other, 200, handle + "/renew", null, "r");
    json(answered(one, "DELETE", handle, null, Map.of()), 200);
    json(answered(one, "DELETE", handle, null, Map.of()), 200);
    assertThat(post(other, 201, path, null, "n").path("token").asLong())
        .isGreaterThan(taken.path("token").asLong());
  }

  private static void documents(ClaimProcess one, ClaimProcess other, ClaimProcess stranger)
      throws IOException {
    String path = "/api/documents/test/" + UUID.randomUUID() + ".json";
    HttpResponse<String> made = answered(one, "PATCH", path, "{\"a\":1}", Map.of());
    String etag = made.headers().firstValue("ETag").orElseThrow();
    Map<String, String> known = Map.of("If-Match", etag, "Idempotency-Key", "known");
    assertThat(json(answered(other, "PATCH", path, "{\"b\":2}", known), 200).toString())
        .isEqualTo("{\"a\":1,\"b\":2}");
    Map<String, String> stale = Map.of("If-Match", etag);
    assertThat(answered(one, "PATCH", path, "{\"b\":3}", stale).statusCode()).isEqualTo(412);
    assertThat(answered(stranger, "GET", path, null, Map.of()).statusCode()).isEqualTo(404);
    Map<String, String> key = Map.of("Idempotency-Key", "deletion");
    String deleted = json(answered(one, "DELETE", path, null, key), 200).toString();
    json(answered(one, "PATCH", path, "{\"a\":2}", Map.of()), 200);
    assertThat(json(answered(other, "DELETE", path, null, key), 200).toString()).isEqualTo(deleted);
    assertThat(json(answered(other, "GET", path, null, Map.of()), 200).toString())
        .isEqualTo("{\"a\":2}");
    assertThat(answered(one, "DELETE", path, null, Map.of()).statusCode()).isEqualTo(200);
    assertThat(answered(other, "GET", path, null, Map.of()).statusCode()).isEqualTo(404);
  }

  private static boolean isThere(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  @Test
  void exampleInPython_chargesOnce_howeverOftenItIsAsked() throws Exception {
    assumeThat(isThere("python3")).as("python3 is there").isTrue();

    chargesOnce("python3", EXAMPLES.resolve("endpoint.py"));
  }

  @Test
  void exampleInTypeScript_isFreeOfTypeErrors_andChargesOnce_howeverOftenItIsAsked()
      throws Exception {
    assumeThat(isThere("node")).as("node is there").isTrue();
    Path folderOfIt = Files.createDirectory(folder.resolve("typescript"));

    chargesOnce("node", TypeScript.compile(EXAMPLES.resolve("endpoint.mts"), folderOfIt));
  }

  private void chargesOnce(String interpreter, Path endpoint) throws Exception {
    try (ClaimProcess server =
        ClaimProcess.start(folder, "server", Map.of("FIRSTCLAIM_CLAIM_BACKEND", "memory"))) {
      Path output = folder.resolve("example.log");
      ProcessBuilder example =
          new ProcessBuilder(interpreter, endpoint.toAbsolutePath().toString(), "--try")
              .redirectErrorStream(true)
              .redirectOutput(output.toFile());
      example.environment().put("FIRSTCLAIM_URL", server.uri("").toString());
      example.environment().put("FIRSTCLAIM_TOKEN", ClaimProcess.TOKEN);
      Process process = example.start();
      boolean ended = process.waitFor(Scenario.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      if (!ended) {
        process.destroyForcibly();
      }
      assertThat(ended && process.exitValue() == 0).as(Files.readString(output)).isTrue();
      assertThat(Files.readString(output)).contains("charged once");
    }
  }

  @Test
  void wrongSettings_areTold_andNoneOfThoseThatOnlyRecordsNeed() throws IOException {
    Run ended =
        Run.of(
            folder,
            Map.of(
                "FIRSTCLAIM_CLAIMS_HTTP", "true",
                "FIRSTCLAIM_CLAIM_BACKEND", "memory",
                "FIRSTCLAIM_CLAIM_LEASE", "1s"));

    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.lines()).singleElement().asString().contains("firstclaim.claim.lease=1s");
  }
}
