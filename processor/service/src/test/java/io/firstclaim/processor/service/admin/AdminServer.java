package io.firstclaim.processor.service.admin;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.service.config.KnownHandlers;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.config.SettingsReader;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.RuntimeBeanDefinition;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The service's HTTP, without Kafka; claims are in memory. */
final class AdminServer implements AutoCloseable {
  static final String READER = "the-reader's";
  static final String OPERATOR = "the-operator's";

  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final KnownHandlers NONE =
      new KnownHandlers() {
        @Override
        public List<String> names() {
          return List.of();
        }

        @Override
        public boolean has(String name) {
          return false;
        }
      };

  private final MemoryClaimStore claims =
      new MemoryClaimStore(ClaimSettings.of("orders", "a/one"), TimeSource.system());
  private final ApplicationContext context;
  private final EmbeddedServer server;

  private AdminServer(Map<String, Object> more) {
    Map<String, Object> settings = new HashMap<>();
    settings.put("firstclaim.application", "orders");
    settings.put("firstclaim.zone", "a");
    settings.put("firstclaim.instance", "one");
    settings.put("firstclaim.input.topics", "orders");
    settings.put("firstclaim.input.record-id", "key");
    settings.put("firstclaim.handler.type", "log");
    settings.put("firstclaim.claim.backend", "memory");
    settings.put("kafka.bootstrap.servers", "127.0.0.1:1");
    settings.put("micronaut.server.port", -1);
    settings.putAll(more);
    context = ApplicationContext.builder().properties(settings).banner(false).build();
    context.registerBeanDefinition(
        RuntimeBeanDefinition.builder(ClaimOperations.class, () -> claims)
            .replaces(ClaimOperations.class)
            .build());
    context.start();
    context.registerSingleton(
        ServiceSettings.class, SettingsReader.read(context.getEnvironment(), NONE));
    server = context.getBean(EmbeddedServer.class).start();
  }

  /** Without a token file. */
  static AdminServer open() {
    return new AdminServer(Map.of());
  }

  /** Without a token file, and impatient with slow clients. */
  static AdminServer impatient(Duration limit) {
    return new AdminServer(Map.of("micronaut.server.read-idle-timeout", limit.toMillis() + "ms"));
  }

  /** With this token file. */
  static AdminServer with(Path tokens) {
    return new AdminServer(Map.of("firstclaim.admin.token-file", tokens.toString()));
  }

  /** A token file with a reader and an operator. */
  static Path tokens(Path folder) {
    Path file = folder.resolve("tokens");
    write(file, line("rita", "reader", READER) + line("otto", "operator", OPERATOR));
    return file;
  }

  static void write(Path file, String content) {
    try {
      Files.writeString(file, content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String line(String name, String role, String token) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(token.getBytes(UTF_8));
      return "%s %s %s%n".formatted(name, role, HexFormat.of().formatHex(hash));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  ClaimStore claims() {
    return claims;
  }

  int port() {
    return server.getPort();
  }

  /** Asks with this token, or with none. */
  HttpResponse<String> get(String path, @Nullable String token) {
    return send("GET", path, token, Optional.empty());
  }

  /** Sends this JSON with this token, or with none. */
  HttpResponse<String> post(String path, @Nullable String token, String body) {
    return send("POST", path, token, Optional.of(body));
  }

  HttpResponse<String> send(
      String method, String path, @Nullable String token, Optional<String> body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
            .header("Content-Type", "application/json")
            .method(method, body.map(BodyPublishers::ofString).orElse(BodyPublishers.noBody()));
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    try {
      return HTTP.send(request.build(), BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    server.stop();
    context.close();
  }
}
