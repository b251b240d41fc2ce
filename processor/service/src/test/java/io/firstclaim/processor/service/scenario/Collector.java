package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A collector of traces that keeps what it is sent by OTLP over HTTP, undecoded. */
final class Collector implements AutoCloseable {
  private final HttpServer server;
  private final Queue<String> received = new ConcurrentLinkedQueue<>();

  Collector() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/v1/traces",
        exchange -> {
          received.add(new String(exchange.getRequestBody().readAllBytes(), ISO_8859_1));
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
  }

  /** Has a zone trace its records, and send the spans here, in the given rhythm. */
  Zone tracing(Zone zone, String everyMillis) {
    return zone.set("OTEL_TRACES_EXPORTER", "otlp")
        .set("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
        .set("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:" + server.getAddress().getPort())
        .set("OTEL_BSP_SCHEDULE_DELAY", everyMillis);
  }

  /** Everything, a character for each byte: Protobuf has texts as they are. */
  String received() {
    return String.join("", received);
  }

  /** What an ID given in hex looks like in what was received. */
  static String idOf(String hex) {
    return new String(HexFormat.of().parseHex(hex), ISO_8859_1);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
