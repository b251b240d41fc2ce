package io.firstclaim.processor.service.scenario;

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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The packaged service as a process that serves claims alone; it is given no zone and no Kafka. */
final class ClaimProcess implements AutoCloseable {
  /** The token of a claimer. */
  static final String TOKEN = "a-claimers";

  private final int port = FreePort.next();
  private final ChildJvm process;

  private ClaimProcess(Path folder, String name, Map<String, String> settings) throws IOException {
    Path tokens =
        Files.writeString(folder.resolve(name + "-tokens"), Zone.tokenLine("carl", TOKEN));
    Map<String, String> env = new HashMap<>();
    env.put("FIRSTCLAIM_CLAIMS_HTTP", "true");
    env.put("FIRSTCLAIM_CLAIM_CREATE", "true");
    env.put("FIRSTCLAIM_ADMIN_TOKEN_FILE", tokens.toAbsolutePath().toString());
    env.put("MICRONAUT_SERVER_PORT", Integer.toString(port));
    env.putAll(Backend.ACCESS);
    env.putAll(settings);
    process =
        ChildJvm.start(
            JvmCommand.ofJar(name, Zone.JAR)
                .withJvmArgs(Zone.JVM_ARGS)
                .withJvmArgs(AotCache.ofService())
                .withEnv(env),
            folder.resolve(name + ".log"));
  }

  /** Starts one, and waits until it is ready. */
  static ClaimProcess start(Path folder, String name, Map<String, String> settings)
      throws IOException {
    ClaimProcess started = new ClaimProcess(folder, name, settings);
    started.process.awaitReady("ready", started::isReady, Scenario.PATIENCE);
    return started;
  }

  private boolean isReady() {
    try {
      return send("GET", "/health/readiness", null, Map.of()).statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  URI uri(String path) {
    return URI.create("http://127.0.0.1:%d%s".formatted(port, path));
  }

  HttpResponse<String> send(
      String method, String path, @Nullable String body, Map<String, String> headers)
      throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(path))
            .header("Authorization", "Bearer " + TOKEN)
            .header("Content-Type", "application/json")
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    headers.forEach(request::header);
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(request.build(), BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  String logTail() {
    return process.logTail();
  }

  @Override
  public void close() {
    process.close();
  }
}
