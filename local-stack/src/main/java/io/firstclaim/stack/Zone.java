package io.firstclaim.stack;

import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.lock.testkit.process.StackException;
import io.firstclaim.stack.server.FreePort;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** One zone: a processor as a process of its own, with its own way to the store. */
final class Zone implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofMinutes(5);
  private static final Duration STOP_TIMEOUT = Duration.ofMinutes(2);
  private static final Duration HTTP_TIMEOUT = Duration.ofSeconds(3);
  private static final HttpClient HTTP =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(HTTP_TIMEOUT)
          .build();

  private final String name;
  private final Optional<FaultProxy> store;
  private final int port = FreePort.next();
  private final JvmCommand command;
  private final Path log;
  private @Nullable ChildJvm process;
  private Metrics metrics = Metrics.NONE;
  private long duplicatesBefore;
  private @Nullable String token;

  Zone(
      String name,
      Path jar,
      Backend backend,
      Backend.Server server,
      Path directory,
      Map<String, String> env) {
    this.name = name;
    this.store = server.endpoint().map(FaultProxy::start);
    this.log = directory.resolve("zone-" + name + ".log");
    this.command =
        JvmCommand.ofJar("zone " + name, jar)
            .withJvmArgs(List.of("-Xmx512m"))
            .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
            .withEnv(env)
            .withEnv(
                Map.of("FIRSTCLAIM_ZONE", name, "MICRONAUT_SERVER_PORT", Integer.toString(port)))
            .withEnv(
                store
                    .map(proxy -> Map.of(backend.endpointVariable(), proxy.endpoint().toString()))
                    .orElse(Map.of()));
  }

  /** Shows it this token when it is asked. */
  void shows(String shown) {
    token = shown;
  }

  String name() {
    return name;
  }

  /** The consumer group, one per zone. */
  String group() {
    return "firstclaim-" + name;
  }

  URI http() {
    return URI.create("http://127.0.0.1:" + port);
  }

  Path log() {
    return log;
  }

  /** Counts the zone's requests to the store from now on. */
  void countRequests() {
    store.ifPresent(FaultProxy::reset);
  }

  /** The zone's requests to the store by operation; none where it is reached without a proxy. */
  SortedMap<String, Long> requests() {
    return store.map(FaultProxy::requestsByOperation).orElse(Collections.emptySortedMap());
  }

  /** Starts the process, or starts it again after {@link #kill()}, and does not wait. */
  void start() {
    process = ChildJvm.start(command, log);
  }

  void awaitReady() {
    process().awaitReady("ready", this::isReady, START_TIMEOUT);
  }

  boolean isReady() {
    return get("/health/readiness").isPresent();
  }

  boolean isAlive() {
    ChildJvm running = process;
    return running != null && running.isAlive();
  }

  /** kill -9; what the process had counted until the last {@link #scrape()} stays counted. */
  void kill() {
    process().kill();
    duplicatesBefore = duplicates();
    metrics = Metrics.NONE;
  }

  /** Reads the metrics; while the process does not answer, the last ones stay. */
  void scrape() {
    get("/prometheus").ifPresent(text -> metrics = Metrics.parse(text));
  }

  long inFlight() {
    return Math.round(metrics.sum("firstclaim_in_flight", ""));
  }

  long parked() {
    return Math.round(metrics.sum("firstclaim_parked", ""));
  }

  /** Deliveries that were found done already. */
  long duplicates() {
    return duplicatesBefore
        + Math.round(metrics.sum("firstclaim_deliveries_total", "result=\"duplicate\""));
  }

  void terminate() {
    process().terminate();
  }

  /** The exit code after {@link #terminate()}. */
  int awaitExit() {
    if (!process().waitFor(STOP_TIMEOUT)) {
      throw new JobFailure(
          "zone %s does not stop within %d s of SIGTERM, see %s"
              .formatted(name, STOP_TIMEOUT.toSeconds(), log));
    }
    return process().exitCode();
  }

  @Override
  public void close() {
    ChildJvm running = process;
    if (running != null) {
      running.close();
    }
    store.ifPresent(FaultProxy::close);
  }

  private ChildJvm process() {
    ChildJvm running = process;
    if (running == null) {
      throw new StackException("zone " + name + " was not started");
    }
    return running;
  }

  private Optional<String> get(String path) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(http().resolve(path)).timeout(HTTP_TIMEOUT);
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    try {
      HttpResponse<String> response = HTTP.send(request.build(), BodyHandlers.ofString());
      return response.statusCode() == 200 ? Optional.of(response.body()) : Optional.empty();
    } catch (IOException _) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new JobFailure("interrupted", e);
    }
  }
}
