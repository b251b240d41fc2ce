package io.firstclaim.bench;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.stack.server.FreePort;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a cold process costs, as the image runs it: the CPU time of its start, and of its first
 * 10,000 records, with the AOT cache of one training and of another, pair by pair.
 */
final class ColdBench {
  private static final int RECORDS = 10_000;
  private static final int ROUNDS = 5;
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final Path LOG = Path.of("target", "bench", "cold.log").toAbsolutePath();
  private static final Path AUDITS = LOG.resolveSibling("audits");
  private static final Pattern COMPLETED =
      Pattern.compile("firstclaim_deliveries_total\\{[^}]*\"completed\"[^}]*} ([0-9.E]+)");

  private final Stack stack;
  private final DynamoDb dynamoDb;
  private final Table table;

  /** Beside it are the libraries and the product's own jars. */
  private final Path packaged = Path.of(System.getProperty("processor.jar"));

  private final HttpClient http = HttpClient.newHttpClient();

  ColdBench(Stack stack, DynamoDb dynamoDb, Table table) {
    this.stack = stack;
    this.dynamoDb = dynamoDb;
    this.table = table;
  }

  /** What a process has used up when it was ready, and when it had completed its records. */
  private record Used(Duration ready, Duration completed) {
    double records() {
      return completed.minus(ready).toNanos() / 1e9;
    }

    double all() {
      return completed.toNanos() / 1e9;
    }
  }

  private record Round(Used now, Used then) {}

  /** Today's training against that of a commit. */
  void compare(CodeBefore before) throws Exception {
    Path libraries = packaged.resolveSibling("lib");
    ImageTraining now = ImageTraining.of("now", before.checkout("docker"), libraries);
    ImageTraining then = ImageTraining.of("before", before.files("docker"), libraries);
    List<Round> rounds = new ArrayList<>();
    for (int n = 0; n < ROUNDS; n++) {
      Round round = // who is first in one round is second in the next
          n % 2 == 0 ? new Round(run(now), run(then)) : reversed(run(then), run(now));
      System.out.printf(
          "  round %d: %.2f s, of that the records %.2f s; before %.2f s, %.2f s%n",
          n, round.now.all(), round.now.records(), round.then.all(), round.then.records());
      rounds.add(round);
    }
    double ratio = Median.of(rounds, round -> round.now.records() / round.then.records());
    table.add(
        "CPU time of the first %,d records of a cold process".formatted(RECORDS),
        "%.1f s; with its start %.1f s"
            .formatted(
                Median.of(rounds, round -> round.now.records()),
                Median.of(rounds, round -> round.now.all())),
        "trained as at %.8s %.1f s; %.1f s"
            .formatted(
                before.commit(),
                Median.of(rounds, round -> round.then.records()),
                Median.of(rounds, round -> round.then.all())),
        "%.2f; %.2f"
            .formatted(ratio, Median.of(rounds, round -> round.now.all() / round.then.all())),
        "≤ 0.8",
        ratio <= 0.8);
    table.add(
        "size of the AOT cache",
        "%,d MB".formatted(Files.size(now.cache()) >> 20),
        "%,d MB".formatted(Files.size(then.cache()) >> 20),
        "",
        "",
        true);
  }

  private static Round reversed(Used then, Used now) {
    return new Round(now, then);
  }

  private Used run(ImageTraining training) throws Exception {
    String application = stack.name("cold");
    int port = FreePort.next();
    try (ChildJvm service = ChildJvm.start(command(training, application, port), LOG)) {
      await(service, () -> page(port, "/health/readiness").contains("\"UP\""));
      Duration ready = used(service);
      stack.fill(application + "-in", RECORDS, 100);
      await(service, () -> completed(page(port, "/prometheus")) >= RECORDS);
      return new Used(ready, used(service));
    }
  }

  private JvmCommand command(ImageTraining training, String application, int port)
      throws IOException {
    stack.create(application + "-in");
    String classPath =
        String.join(
            File.pathSeparator,
            ImageTraining.classPath(packaged.resolveSibling("lib")),
            training.jar().toString(),
            ImageTraining.classPath(packaged.resolveSibling("own")),
            packaged.resolveSibling("original-" + packaged.getFileName()).toString());
    return JvmCommand.ofMain("cold", classPath, "io.firstclaim.launcher.Launcher")
        .withJvmArgs(ImageTraining.JVM_ARGS)
        .withJvmArgs(
            List.of(
                "-XX:AOTCache=" + training.cache(),
                "-XX:AOTMode=on",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:ArchiveRelocationMode=0",
                "-Xmx1g"))
        .withEnv(
            Map.ofEntries(
                Map.entry("FIRSTCLAIM_APPLICATION", application),
                Map.entry("FIRSTCLAIM_ZONE", "a"),
                Map.entry("FIRSTCLAIM_INPUT_TOPICS", application + "-in"),
                Map.entry("FIRSTCLAIM_INPUT_RECORD_ID", "key"),
                Map.entry("FIRSTCLAIM_HANDLER_TYPE", "log"),
                Map.entry("FIRSTCLAIM_LOG_LEVEL", "WARN"),
                Map.entry("FIRSTCLAIM_AUDIT_DIRECTORY", AUDITS.resolve(application).toString()),
                Map.entry("FIRSTCLAIM_CLAIM_DYNAMODB_TABLE", dynamoDb.newPlace()),
                Map.entry("KAFKA_BOOTSTRAP_SERVERS", stack.bootstrapServers()),
                Map.entry("AWS_ENDPOINT_URL_DYNAMODB", dynamoDb.endpoint().toString()),
                Map.entry("AWS_REGION", "us-east-1"),
                Map.entry("AWS_ACCESS_KEY_ID", "local"),
                Map.entry("AWS_SECRET_ACCESS_KEY", "local"),
                Map.entry("MICRONAUT_SERVER_PORT", Integer.toString(port))));
  }

  private static void await(ChildJvm service, BooleanSupplier done) {
    service.awaitReady("where it is to be", done, PATIENCE);
  }

  private static Duration used(ChildJvm service) {
    return ProcessHandle.of(service.pid())
        .flatMap(process -> process.info().totalCpuDuration())
        .orElseThrow();
  }

  private static double completed(String metrics) {
    Matcher matcher = COMPLETED.matcher(metrics);
    return matcher.find() ? Double.parseDouble(matcher.group(1)) : 0;
  }

  /** Asks for this; empty while nobody answers. */
  private String page(int port, String path) {
    URI uri = URI.create("http://127.0.0.1:%d%s".formatted(port, path));
    try {
      return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
    } catch (IOException _) {
      return "";
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
