package io.firstclaim.processor.service.handler;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An HTTP/1.1 server on the loopback that keeps what it was sent. */
final class TestServer implements AutoCloseable {
  private static final int BACKLOG = 1024;

  /** A request as it came; header names in any case. */
  record Request(
      String method, URI uri, Map<String, List<String>> headers, ByteBuffer body, int port) {
    String header(String name) {
      return String.join("|", headers.getOrDefault(name, List.of("(none)")));
    }
  }

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Request> requests = new CopyOnWriteArrayList<>();

  TestServer(HttpHandler answer) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          requests.add(read(exchange));
          answer.handle(exchange);
        });
    server.start();
  }

  /** A server that answers everything with this status and these headers, without body. */
  static TestServer answering(int status, Map<String, String> headers) throws IOException {
    return new TestServer(
        exchange -> {
          headers.forEach(exchange.getResponseHeaders()::set);
          answer(exchange, status);
        });
  }

  static TestServer answering(int status) throws IOException {
    return answering(status, Map.of());
  }

  static void answer(HttpExchange exchange, int status) throws IOException {
    exchange.sendResponseHeaders(status, -1);
    exchange.close();
  }

  private static Request read(HttpExchange exchange) throws IOException {
    Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    headers.putAll(exchange.getRequestHeaders());
    return new Request(
        exchange.getRequestMethod(),
        exchange.getRequestURI(),
        headers,
        ByteBuffer.wrap(exchange.getRequestBody().readAllBytes()),
        exchange.getRemoteAddress().getPort());
  }

  int port() {
    return server.getAddress().getPort();
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + port() + "/records");
  }

  List<Request> requests() {
    return requests;
  }

  Request onlyRequest() {
    if (requests.size() != 1) {
      throw new AssertionError("one request expected, not " + requests.size());
    }
    return requests.getFirst();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
