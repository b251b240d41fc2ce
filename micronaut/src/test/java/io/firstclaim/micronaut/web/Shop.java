package io.firstclaim.micronaut.web;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.lock.testkit.framework.WebDesk;
import io.firstclaim.lock.testkit.framework.WebInstance;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Instances of an application on real servers, which share a store. */
final class Shop implements AutoCloseable {
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final Map<EmbeddedServer, ApplicationContext> servers = new HashMap<>();
  private final WebDesk desk;
  private final String controllers;

  /** A shop with the controllers of this name. */
  Shop(String controllers) {
    this(controllers, new WebDesk());
  }

  /** A shop whose handlers count their calls at this desk. */
  Shop(String controllers, WebDesk desk) {
    this.controllers = controllers;
    this.desk = desk;
  }

  WebDesk desk() {
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

  private static WebInstance of(EmbeddedServer instance) {
    return new WebInstance(instance.getPort());
  }

  static HttpRequest.Builder to(EmbeddedServer instance, String path, @Nullable String key) {
    return of(instance).to(path, key);
  }

  static HttpResponse<String> post(
      EmbeddedServer instance, String path, @Nullable String key, String body) throws Exception {
    return of(instance).post(path, key, body);
  }

  @Override
  public void close() {
    servers.values().forEach(ApplicationContext::close);
  }
}
