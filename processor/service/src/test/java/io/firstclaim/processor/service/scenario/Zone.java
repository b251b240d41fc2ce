package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.stack.server.FreePort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One instance of the packaged service as a process of its own, set by environment variables. It
 * may be ended and launched again; its log goes on.
 */
final class Zone implements AutoCloseable {
  static final Path JAR = Path.of(Objects.requireNonNull(System.getProperty("processor.jar")));
  private static final String JCMD =
      Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
  private static final HttpClient PLAIN = HttpClient.newHttpClient();
  private static final Duration HTTP_LIMIT = Duration.ofMinutes(2);

  /** For a quick start on a small machine; none changes what the service does. */
  static final List<String> JVM_ARGS =
      List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData");

  private final String name;
  private final String instance;
  private final Path log;
  private final Backend backend;
  private final int port = FreePort.next();
  private final Map<String, String> env = new HashMap<>();
  private Path jar = JAR;
  private HttpClient http = PLAIN;
  private String scheme = "http";
  private @Nullable ChildJvm process;
  private boolean toEnd;

  Zone(String name, String instance, Path log, Backend backend, String place) {
    this.name = name;
    this.instance = instance;
    this.log = log;
    this.backend = backend;
    env.put("FIRSTCLAIM_INPUT_RECORD_ID", "header:ce_id,key");
    env.put("FIRSTCLAIM_AUDIT_ENABLED", "false"); // it is a second application, on a small machine
    // A call is under way until a test ends it, on a machine that may be busy.
    env.put("FIRSTCLAIM_HANDLER_HTTP_TIMEOUT", "1h");
    env.put("FIRSTCLAIM_HANDLER_TIMEOUT", "2h");
    env.putAll(
        Map.of(
            "FIRSTCLAIM_ZONE", name,
            "FIRSTCLAIM_ZONES", "a,b",
            "FIRSTCLAIM_INSTANCE", instance,
            "FIRSTCLAIM_CLAIM_CREATE", "true",
            "FIRSTCLAIM_CLAIM_LEASE", "20s", // longer than a busy machine stands still
            "FIRSTCLAIM_HANDLER_TYPE", "http",
            "MICRONAUT_SERVER_PORT", Integer.toString(port),
            "KAFKA_BOOTSTRAP_SERVERS", Servers.KAFKA.bootstrapServers(),
            "KAFKA_SESSION_TIMEOUT_MS", "6000",
            "KAFKA_HEARTBEAT_INTERVAL_MS", "1000"));
    env.putAll(backend.settings(place));
    env.putAll(Backend.ACCESS);
  }

  /** Sets an environment variable. */
  Zone set(String variable, String value) {
    env.put(variable, value);
    return this;
  }

  /**
   * Runs the audit too, as the service does by default, and as an application of its own: the
   * audits of two scenarios would take each other's partitions.
   */
  Zone audited(String application) {
    env.remove("FIRSTCLAIM_AUDIT_ENABLED");
    return set("FIRSTCLAIM_APPLICATION", application)
        .set("FIRSTCLAIM_AUDIT_DIRECTORY", log.resolveSibling(instance + "-audit").toString());
  }

  /**
   * Lets whoever has this token ask and change what operators may, and whoever has {@link
   * Operator#READER} ask; writes a file into the folder.
   */
  Zone operatedWith(String token, Path folder) {
    try {
      Path tokens =
          Files.writeString(
              folder.resolve("tokens"),
              "otto operator %s\nrita reader %s\n".formatted(hash(token), hash(Operator.READER)));
      Path own = Files.writeString(folder.resolve("token"), Operator.READER);
      return set("FIRSTCLAIM_ADMIN_TOKEN_FILE", tokens.toAbsolutePath().toString())
          .set("FIRSTCLAIM_AUDIT_TOKEN_FILE", own.toAbsolutePath().toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The line of a token file for a claimer of this token. */
  static String tokenLine(String name, String token) {
    return "%s claimer %s\n".formatted(name, hash(token));
  }

  private static String hash(String token) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** Serves TLS with this certificate, and trusts it. */
  Zone securedWith(Certificate certificate) {
    scheme = "https";
    http = HttpClient.newBuilder().sslContext(certificate.tls()).build();
    env.remove("MICRONAUT_SERVER_PORT");
    return set("MICRONAUT_SERVER_SSL_ENABLED", "true")
        .set("MICRONAUT_SERVER_SSL_PORT", Integer.toString(port))
        .set("MICRONAUT_SERVER_SSL_KEY_STORE_PATH", "file:" + certificate.file())
        .set("MICRONAUT_SERVER_SSL_KEY_STORE_TYPE", "PKCS12")
        .set("MICRONAUT_SERVER_SSL_KEY_STORE_PASSWORD", Certificate.PASSWORD)
        .set("MICRONAUT_HTTP_CLIENT_SSL_TRUST_STORE_PATH", "file:" + certificate.trusted())
        .set("MICRONAUT_HTTP_CLIENT_SSL_TRUST_STORE_TYPE", "PKCS12")
        .set("MICRONAUT_HTTP_CLIENT_SSL_TRUST_STORE_PASSWORD", Certificate.PASSWORD);
  }

  /** Tries it beside the application in force, whose settings it takes, but for its handler. */
  Zone inShadow() {
    env.remove("FIRSTCLAIM_HANDLER_TYPE");
    return set("FIRSTCLAIM_MODE", "shadow");
  }

  /** Runs this package when it is launched next, which another version may be. */
  Zone packagedAs(Path other) {
    jar = other;
    return this;
  }

  /** Leaves the consumer group to the service's default. */
  Zone inDefaultGroup() {
    env.remove("FIRSTCLAIM_INPUT_GROUP");
    return this;
  }

  /**
   * Makes it one of this application, by which the default group is named: the broker is shared,
   * and nobody else may be in it. Its claims stay in their namespace, where a scenario looks.
   */
  Zone inDefaultGroupOf(String application) {
    return set("FIRSTCLAIM_APPLICATION", application)
        .set("FIRSTCLAIM_CLAIM_NAMESPACE", "firstclaim")
        .inDefaultGroup();
  }

  /** Leaves sessions and heartbeats to the broker, as the new group protocol demands. */
  Zone inNewGroupProtocol() {
    env.remove("KAFKA_SESSION_TIMEOUT_MS");
    env.remove("KAFKA_HEARTBEAT_INTERVAL_MS");
    return set("KAFKA_GROUP_PROTOCOL", "consumer");
  }

  /**
   * Stays in its group for a minute without a heartbeat, longer than a busy machine stands still:
   * else what it has in hand would be delivered again. One that is killed is missed for as long.
   */
  Zone inLongSessions() {
    return set("KAFKA_SESSION_TIMEOUT_MS", "60000");
  }

  /** Leaves the other zone's records alone for long, so that each zone is sure to get its half. */
  Zone patient() {
    return set("FIRSTCLAIM_CLAIM_HEAD_START", "15s");
  }

  Zone lease(Duration lease) {
    return set("FIRSTCLAIM_CLAIM_LEASE", lease.toMillis() + "ms");
  }

  /** Has it reach the store through a proxy. */
  Zone through(FaultProxy proxy) {
    return set(backend.endpointVariable(), proxy.endpoint().toString());
  }

  String name() {
    return name;
  }

  String instance() {
    return instance;
  }

  String group() {
    String application = env.getOrDefault("FIRSTCLAIM_APPLICATION", "firstclaim");
    String group = env.getOrDefault("FIRSTCLAIM_INPUT_GROUP", application + "-" + name);
    return env.containsKey("FIRSTCLAIM_MODE") ? group + "-shadow" : group;
  }

  Path log() {
    return log;
  }

  long pid() {
    return process().pid();
  }

  /** The port of its HTTP server. */
  int port() {
    return port;
  }

  /** Starts the process, for the first time or again. */
  void launch() {
    launch(jar.equals(JAR) ? AotCache.ofService() : List.of());
  }

  /** The same, with these arguments for its JVM in place of those of the {@link AotCache}. */
  void launch(List<String> jvmArgs) {
    try {
      Files.createDirectories(Objects.requireNonNull(log.getParent()));
      if (process == null) {
        Files.deleteIfExists(log);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    toEnd = false;
    process =
        ChildJvm.start(
            JvmCommand.ofJar("instance " + instance, jar)
                .withJvmArgs(JVM_ARGS)
                .withJvmArgs(jvmArgs)
                .withEnv(env),
            log);
  }

  void awaitReady() {
    process().awaitReady("ready", this::isReady, Scenario.PATIENCE);
  }

  /** Writes down what each thread does, virtual ones too; returns where. */
  Path dumpThreads() {
    Path threads = log.resolveSibling(instance + ".threads").toAbsolutePath();
    List<String> line =
        List.of(
            JCMD, Long.toString(pid()), "Thread.dump_to_file", "-overwrite", threads.toString());
    try {
      Process dump =
          new ProcessBuilder(line)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!dump.waitFor(1, TimeUnit.MINUTES)) {
        dump.destroyForcibly(); // the process is paused
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return threads;
  }

  boolean isAlive() {
    return process != null && process.isAlive();
  }

  boolean hasEndedUnexpectedly() {
    return process != null && !toEnd && !process.isAlive();
  }

  /** {@code kill -9}; returns when the process is gone. */
  void kill() {
    toEnd = true;
    process().kill();
  }

  /** SIGSTOP. */
  void pause() {
    process().pause();
  }

  /** SIGCONT. */
  void resume() {
    process().resume();
  }

  /** SIGTERM. */
  void terminate() {
    toEnd = true;
    process().terminate();
  }

  /** Waits for the end of the process; false if it takes longer. */
  boolean awaitEnd(Duration limit) {
    return process().waitFor(limit);
  }

  int exitCode() {
    return process().exitCode();
  }

  /** What {@code GET /health/readiness} says: UP or DOWN. */
  boolean isReady() {
    return isUp("/health/readiness");
  }

  /** What {@code GET /health/liveness} says. */
  boolean isLive() {
    return isUp("/health/liveness");
  }

  /** The whole answer of {@code GET /health/readiness}; empty if there is none in time. */
  String readiness() {
    return body("/health/readiness");
  }

  /** The whole answer of {@code GET /health/liveness}; empty if there is none in time. */
  String liveness() {
    return body("/health/liveness");
  }

  private String body(String path) {
    try {
      return get(path).body();
    } catch (IOException e) {
      return "";
    }
  }

  private boolean isUp(String path) {
    try {
      return get(path).statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /** What {@code GET /prometheus} serves. */
  String prometheus() {
    try {
      return get("/prometheus").body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The sum of a metric over all lines that have these labels, each {@code name="value"}. */
  double metric(String metric, String... labels) {
    return prometheus()
        .lines()
        .filter(line -> line.startsWith(metric + "{") || line.startsWith(metric + " "))
        .filter(line -> List.of(labels).stream().allMatch(line::contains))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** The deliveries that ended so, by the metric. */
  long deliveries(String result) {
    return (long) metric("firstclaim_deliveries_total", "result=\"" + result + "\"");
  }

  /** Where a path of its HTTP server is. */
  URI uri(String path) {
    return URI.create("%s://127.0.0.1:%d%s".formatted(scheme, port, path));
  }

  private HttpResponse<String> get(String path) throws IOException {
    return send(HttpRequest.newBuilder(uri(path)).timeout(HTTP_LIMIT).build());
  }

  /** Asks its HTTP server. */
  HttpResponse<String> send(HttpRequest request) throws IOException {
    try {
      return http.send(request, BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  String logText() {
    try {
      return Files.readString(log, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String logTail() {
    return process == null ? "(not started)" : process.logTail();
  }

  private ChildJvm process() {
    return Objects.requireNonNull(process, "not started");
  }

  @Override
  public void close() {
    toEnd = true;
    if (process != null) {
      process.close();
    }
  }
}
