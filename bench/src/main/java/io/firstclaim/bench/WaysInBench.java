package io.firstclaim.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.bench.Instance.Plan;
import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.stack.server.FreePort;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** What the ways in add that are not Java: HTTP to a claim, a JVM's start to a command. */
final class WaysInBench {
  private static final Path LOGS = Path.of("target", "bench").toAbsolutePath();
  private static final Path JAR = Path.of(System.getProperty("processor.jar", ""));
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String TOKEN = "the-benchs";
  private static final int CLAIMS = 1_000;
  private static final int WARM_UP = 3;
  private static final int ROUNDS = 9;
  private static final int STARTS = 9;
  private static final String FIRST_COMPILER = "-XX:TieredStopAtLevel=1";

  private final DynamoDb dynamoDb;
  private final Table table;

  WaysInBench(DynamoDb dynamoDb, Table table) {
    this.dynamoDb = dynamoDb;
    this.table = table;
  }

  private Map<String, String> settings(String place) {
    return new HashMap<>(
        Map.of(
            "FIRSTCLAIM_CLAIM_DYNAMODB_TABLE", place,
            "AWS_ENDPOINT_URL_DYNAMODB", dynamoDb.endpoint().toString(),
            "AWS_REGION", "us-east-1",
            "AWS_ACCESS_KEY_ID", "local",
            "AWS_SECRET_ACCESS_KEY", "local"));
  }

  /** One claim and its completion. */
  private interface Pair {
    void run(String id) throws IOException, InterruptedException;
  }

  /** The times that so many pairs take, one after the other. */
  private static List<Duration> times(String name, Pair pair)
      throws IOException, InterruptedException {
    List<Duration> times = new ArrayList<>();
    for (int i = 0; i < CLAIMS; i++) {
      long begin = System.nanoTime();
      pair.run(name + "-" + i);
      times.add(Duration.ofNanos(System.nanoTime() - begin));
    }
    times.sort(null);
    return times;
  }

  /**
   * A claim and its completion, by the library and over HTTP, in turn; the stores are in memory.
   */
  static void http(Table table) throws Exception {
    int port = FreePort.next();
    Files.createDirectories(LOGS);
    Path tokens = Files.writeString(LOGS.resolve("tokens"), "bench claimer " + sha256(TOKEN));
    Map<String, String> env =
        Map.of(
            "FIRSTCLAIM_CLAIMS_HTTP",
            "true",
            "FIRSTCLAIM_CLAIM_BACKEND",
            "memory",
            "FIRSTCLAIM_ADMIN_TOKEN_FILE",
            tokens.toString(),
            "MICRONAUT_SERVER_PORT",
            Integer.toString(port));
    URI server = URI.create("http://127.0.0.1:" + port);
    try (ChildJvm service =
            ChildJvm.start(
                JvmCommand.ofJar("claims", JAR).withEnv(env), LOGS.resolve("claims.log"));
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      service.awaitReady("ready", () -> isReady(client, server), Duration.ofMinutes(2));
      TimeSource time = TimeSource.system();
      Pair library =
          library(new MemoryClaimStore(Plan.of("ways-in", Optional.empty()).store(), time), time);
      List<Pair> ways =
          List.of(library, overHttp(client, server, false), overHttp(client, server, true));
      List<List<Double>> medians = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
      List<List<Double>> slow = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
      double cpu = 0;
      for (int round = -WARM_UP; round < ROUNDS; round++) {
        for (int way = 0; way < ways.size(); way++) {
          Duration before = cpu(service);
          List<Duration> times = times("%d-%d".formatted(round + WARM_UP, way), ways.get(way));
          if (round >= 0) {
            medians.get(way).add(micros(times.get(CLAIMS / 2)));
            slow.get(way).add(micros(times.get(CLAIMS * 99 / 100)));
            cpu = way == 1 ? cpu + micros(cpu(service).minus(before)) : cpu;
          }
        }
      }
      table.add(
          "claim and completion by the library, p50; p99",
          "%.0f µs; %.0f µs".formatted(Median.of(medians.getFirst()), Median.of(slow.getFirst())),
          "in memory",
          "");
      row(
          table,
          "the same over HTTP, %.0f µs of the service's CPU time".formatted(cpu / ROUNDS / CLAIMS),
          1,
          medians,
          slow);
      row(table, "the same with an Idempotency-Key each", 2, medians, slow);
    }
  }

  private static void row(
      Table table, String what, int way, List<List<Double>> medians, List<List<Double>> slow) {
    List<Double> added = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      added.add(medians.get(way).get(round) - medians.getFirst().get(round));
    }
    added.sort(null);
    table.add(
        what,
        "%.0f µs; %.0f µs".formatted(Median.of(medians.get(way)), Median.of(slow.get(way))),
        "the library",
        "+ %.0f µs for the two (%.0f to %.0f)"
            .formatted(Median.of(added), added.getFirst(), added.getLast()));
  }

  private static double micros(Duration time) {
    return time.toNanos() / 1e3;
  }

  private static Duration cpu(ChildJvm process) {
    return ProcessHandle.of(process.pid())
        .flatMap(each -> each.info().totalCpuDuration())
        .orElseThrow();
  }

  private static Pair library(ClaimStore store, TimeSource time) {
    return id -> {
      Claim claim = Claim.of(RecordId.of(id), Fingerprint.none(), time.now());
      if (!(store.claim(claim) instanceof ClaimResult.Granted granted)
          || !(store.complete(granted.lease(), "done") instanceof SettleResult.Settled)) {
        throw new IllegalStateException(id + " was not granted and completed");
      }
    };
  }

  private static Pair overHttp(HttpClient client, URI server, boolean keyed) {
    return id -> {
      String path = "/api/claims/" + id;
      String handle =
          JSON.readTree(post(client, server.resolve(path), "{}", 201, keyed ? id : ""))
              .path("handle")
              .asText();
      URI complete = server.resolve("%s/%s/complete".formatted(path, handle));
      String _ = post(client, complete, "{\"result\":\"done\"}", 200, keyed ? id : "");
    };
  }

  private static String post(HttpClient client, URI to, String body, int wanted, String key)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(to)
            .header("Authorization", "Bearer " + TOKEN)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body));
    if (!key.isEmpty()) {
      request.header("Idempotency-Key", key);
    }
    HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
    if (answer.statusCode() != wanted) {
      throw new IllegalStateException(to + " answered " + answer.statusCode() + answer.body());
    }
    return answer.body();
  }

  private static boolean isReady(HttpClient client, URI server) {
    try {
      HttpRequest ready = HttpRequest.newBuilder(server.resolve("/health/readiness")).build();
      return client.send(ready, BodyHandlers.ofString()).statusCode() == 200;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static String sha256(String text) throws Exception {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  /** From the start of the JVM to the first act of the command that has the lock. */
  void shell() throws Exception {
    Files.createDirectories(LOGS);
    String place = dynamoDb.newPlace();
    shellRow("start of lock NAME to its command", place, List.of());
    Path own = LOGS.resolve("lock.aot");
    List<String> cached = List.of("-XX:AOTCache=" + own, "-XX:AOTMode=on");
    var _ = start(place, List.of("-XX:AOTCacheOutput=" + own)); // written when it ends
    shellRow("the same with an AOT cache of a lock before", place, cached);
    // What ends at once is compiled twice in vain.
    List<String> first = Stream.concat(cached.stream(), Stream.of(FIRST_COMPILER)).toList();
    shellRow("the same with the first compiler alone", place, first);
  }

  private void shellRow(String what, String place, List<String> jvmArgs) throws Exception {
    List<Start> starts = new ArrayList<>();
    for (int round = 0; round < STARTS; round++) {
      starts.add(start(place, jvmArgs));
    }
    double median = Median.of(starts, Start::seconds);
    table.add(
        what,
        "%.2f s, %.2f s of CPU time".formatted(median, Median.of(starts, Start::cpuSeconds)),
        "medians of %d".formatted(STARTS),
        "",
        jvmArgs.isEmpty() ? "" : "≤ 1 s",
        jvmArgs.isEmpty() || median <= 1);
  }

  /**
   * Until a command begins.
   *
   * @param cpuSeconds that the JVM has used up by then: on a machine that is busy with other work,
   *     what its start takes of it
   */
  private record Start(double seconds, double cpuSeconds) {}

  private Start start(String place, List<String> jvmArgs) throws Exception {
    Path act = LOGS.resolve("act");
    Files.deleteIfExists(act);
    // Of the parent's stat, the two fields are clock ticks, a hundred a second.
    String says = "date +%s%N > ACT; cut -d ' ' -f 14,15 /proc/$PPID/stat >> ACT";
    JvmCommand command =
        JvmCommand.ofJar("lock", JAR)
            .withJvmArgs(jvmArgs)
            .withEnv(settings(place))
            .withArgs(
                List.of(
                    "lock",
                    "bench",
                    "--wait",
                    "1m",
                    "--",
                    "sh",
                    "-c",
                    says.replace("ACT", act.toString())));
    long begin = System.currentTimeMillis();
    try (ChildJvm shell = ChildJvm.start(command, LOGS.resolve("lock.log"))) {
      if (!shell.waitFor(Duration.ofMinutes(2)) || shell.exitCode() != 0) {
        throw new IllegalStateException("The command did not run: " + shell.logTail());
      }
    }
    List<String> said = Files.readAllLines(act);
    String[] ticks = said.getLast().split(" ", -1);
    return new Start(
        (Long.parseLong(said.getFirst()) / 1_000_000 - begin) / 1e3,
        (Long.parseLong(ticks[0]) + Long.parseLong(ticks[1])) / 100.0);
  }
}
