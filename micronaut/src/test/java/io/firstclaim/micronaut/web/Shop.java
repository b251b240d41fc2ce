package io.firstclaim.micronaut.web;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Instances of an application on real servers, which share a store. */
final class Shop implements AutoCloseable {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final Map<EmbeddedServer, ApplicationContext> servers = new HashMap<>();
  private final Desk desk = new Desk();
  private final String controllers;

  /** A shop with the controllers of this name. */
  Shop(String controllers) {
    this.controllers = controllers;
  }

  /** How often each value came to a handler, and what is to happen there. */
  static final class Desk {
    private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
    private final Map<String, CountDownLatch> waits = new ConcurrentHashMap<>();
    private final AtomicInteger interrupted = new AtomicInteger();

    int call(String value) {
      int call = calls.computeIfAbsent(value, _ -> new AtomicInteger()).incrementAndGet();
      CountDownLatch wait = waits.get(value);
      if (wait != null) {
        try {
          wait.await();
        } catch (InterruptedException e) {
          interrupted.incrementAndGet();
          throw new IllegalStateException(e);
        }
      }
      return call;
    }

    int calls(String value) {
      AtomicInteger number = calls.get(value);
      return number == null ? 0 : number.get();
    }

    int calls() {
      return calls.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    int interrupted() {
      return interrupted.get();
    }

    /** Has the handlers of a value wait. */
    CountDownLatch hold(String value) {
      CountDownLatch go = new CountDownLatch(1);
      waits.put(value, go);
      return go;
    }
  }

  Desk desk() {
    return desk;
  }

  FaultyStore store(String instance, TimeSource time) {
    return new FaultyStore(new MemoryClaimStore(claims, ClaimSettings.of("shop", instance), time));
  }

  EmbeddedServer open(FaultyStore store, TimeSource time, String... settings) {
    Map<String, Object> all = new HashMap<>();
    all.put("web", controllers);
    all.put("kafka.enabled", false);
    all.put("micronaut.security.enabled", false);
    all.put("micronaut.server.port", -1);
    all.put("micronaut.server.host", "127.0.0.1");
    for (int i = 0; i < settings.length; i += 2) {
      all.put(settings[i], settings[i + 1]);
    }
    ApplicationContext context =
        ApplicationContext.builder()
            .deduceEnvironment(false)
            .properties(all)
            .singletons(store, time, desk)
            .start();
    EmbeddedServer server = context.getBean(EmbeddedServer.class).start();
    servers.put(server, context);
    return server;
  }

  EmbeddedServer open(String instance, String... settings) {
    return open(store(instance, TimeSource.system()), TimeSource.system(), settings);
  }

  static HttpRequest.Builder to(EmbeddedServer instance, String path, @Nullable String key) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:%d%s".formatted(instance.getPort(), path)))
            .header("Content-Type", "text/plain");
    return key == null ? request : request.header("Idempotency-Key", key);
  }

  static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return CLIENT.send(request.build(), BodyHandlers.ofString());
  }

  static CompletableFuture<HttpResponse<String>> sendAsync(HttpRequest.Builder request) {
    return CLIENT.sendAsync(request.build(), BodyHandlers.ofString());
  }

  static HttpResponse<String> post(
      EmbeddedServer instance, String path, @Nullable String key, String body) throws Exception {
    return send(to(instance, path, key).POST(BodyPublishers.ofString(body)));
  }

  static boolean isReplayed(HttpResponse<?> answer) {
    return answer.headers().firstValue("Idempotent-Replayed").isPresent();
  }

  @Override
  public void close() {
    servers.values().forEach(ApplicationContext::close);
  }
}
