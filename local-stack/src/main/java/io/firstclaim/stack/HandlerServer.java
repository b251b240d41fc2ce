package io.firstclaim.stack;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The service behind the zones' {@code http} handlers: notes who runs what, takes a few
 * milliseconds over it and now and then a third of a second, and says that it is done; or, of
 * poison, that it never will be, until it is mended.
 */
final class HandlerServer implements AutoCloseable {
  private static final double SLOW_SHARE = 0.03;

  private final Ledger ledger;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
  private volatile boolean mended;

  private HandlerServer(Ledger ledger, HttpServer server) {
    this.ledger = ledger;
    this.server = server;
  }

  /** Starts on any free port of the loopback address. */
  static HandlerServer start(Ledger ledger) {
    return start(ledger, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  static HandlerServer start(Ledger ledger, InetSocketAddress address) {
    // Otherwise the JDK's server holds back the end of every answer for 40 ms.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    System.setProperty("sun.net.httpserver.maxIdleConnections", "1000");
    try {
      HttpServer server = HttpServer.create(address, 1024);
      HandlerServer handler = new HandlerServer(ledger, server);
      server.setExecutor(handler.threads);
      server.createContext("/", handler::handle);
      server.start();
      return handler;
    } catch (IOException e) {
      throw new JobFailure("the handler's HTTP server cannot be started: " + e.getMessage(), e);
    }
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/events");
  }

  /** How many records are in the hands of a zone right now. */
  int running(String zone) {
    AtomicInteger count = running.get(zone);
    return count == null ? 0 : count.get();
  }

  /** Takes poison from now on, as after a fix. */
  void mend() {
    mended = true;
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void handle(HttpExchange exchange) throws IOException {
    String zone = header(exchange, "Firstclaim-Zone");
    AtomicInteger count = running.computeIfAbsent(zone, _ -> new AtomicInteger());
    count.incrementAndGet();
    try (exchange) {
      String id = id(header(exchange, "Idempotency-Key"));
      ledger.ran(id, zone);
      var _ = exchange.getRequestBody().readAllBytes();
      Thread.sleep(handlerTime());
      exchange.sendResponseHeaders(ledger.isPoison(id) && !mended ? 422 : 204, -1);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } finally {
      count.decrementAndGet();
    }
  }

  private static String header(HttpExchange exchange, String name) {
    String value = exchange.getRequestHeaders().getFirst(name);
    return value == null ? "" : value;
  }

  /** IDs that are not legal header values come percent-encoded. */
  private String id(String key) {
    return ledger.knows(key)
        ? key
        : URLDecoder.decode(key.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static Duration handlerTime() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    boolean slow = random.nextDouble() < SLOW_SHARE;
    return Duration.ofMillis(slow ? random.nextInt(150, 350) : random.nextInt(2, 9));
  }
}
