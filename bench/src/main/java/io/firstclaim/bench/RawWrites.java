package io.firstclaim.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;

/**
 * Writes of claims to a server of DynamoDB's protocol, made before they are sent, whose answers are
 * only searched for errors: for the server's own speed.
 */
record RawWrites(URI endpoint, String table) {
  private static final int CONNECTIONS = 4;
  private static final int BATCH = 25;
  private static final String HASH = "A".repeat(43) + "=";
  private static final String NONCE = "0123456789abcdef0123456789abcdef";

  /** An item's attributes but for its key, as a claim has them. */
  private static final List<String> ATTRIBUTES =
      List.of(
          "recordId:B:YmVuY2gtMS0xMDA=",
          "claimState:S:HELD",
          "holder:S:a/bench",
          "leaseMillis:N:30000",
          "leaseEnd:N:1790000000000",
          "nonce:S:" + NONCE,
          "payloadHash:B:" + HASH,
          "expiresAt:N:1790000000",
          "fencingToken:N:1",
          "attempts:N:1");

  /** So many requests of 25 writes each. */
  Made batches(int requests) {
    return make(
        requests,
        BATCH,
        n -> {
          List<String> statements = new ArrayList<>();
          for (int i = 0; i < BATCH; i++) {
            statements.add(insert("batch-%d-%d".formatted(n, i)));
          }
          return request(
              "BatchExecuteStatement",
              "{\"Statements\":[%s]}".formatted(String.join(",", statements)));
        });
  }

  /** So many requests of one write each. */
  Made singles(int requests) {
    return make(
        requests,
        1,
        n ->
            request(
                "PutItem",
                "{\"TableName\":\"%s\",\"Item\":{%s},\"ConditionExpression\":\"attribute_not_exists(pk)\"}"
                    .formatted(
                        table,
                        String.join(
                            ",",
                            all("single-" + n).stream()
                                .map(
                                    each ->
                                        "\"%s\":{\"%s\":\"%s\"}"
                                            .formatted((Object[]) each.split(":", 3)))
                                .toList()))));
  }

  private static List<String> all(String key) {
    List<String> all = new ArrayList<>(ATTRIBUTES);
    all.add("pk:S:bench/" + key + "-" + HASH);
    return all;
  }

  private String insert(String key) {
    List<String> names = new ArrayList<>();
    List<String> values = new ArrayList<>();
    for (String each : all(key)) {
      String[] parts = each.split(":", 3);
      names.add("'%s':?".formatted(parts[0]));
      values.add("{\"%s\":\"%s\"}".formatted(parts[1], parts[2]));
    }
    return "{\"Statement\":\"INSERT INTO \\\"%s\\\" VALUE {%s}\",\"Parameters\":[%s]}"
        .formatted(table, String.join(",", names), String.join(",", values));
  }

  private byte[] request(String operation, String body) {
    return ("POST / HTTP/1.1\r\nHost: %s\r\nX-Amz-Target: DynamoDB_20120810.%s\r\n"
            + "Content-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n%s")
        .formatted(endpoint.getAuthority(), operation, body.length(), body)
        .getBytes(US_ASCII);
  }

  private Made make(int requests, int writes, IntFunction<byte[]> request) {
    List<List<byte[]>> lines = new ArrayList<>();
    for (int line = 0; line < CONNECTIONS; line++) {
      lines.add(new ArrayList<>());
    }
    for (int n = 0; n < requests; n++) {
      lines.get(n % CONNECTIONS).add(request.apply(n));
    }
    return new Made(endpoint, lines, requests * writes);
  }

  /**
   * Requests that are ready to be sent.
   *
   * @param lines those of each connection
   * @param writes in all of them
   */
  record Made(URI endpoint, List<List<byte[]>> lines, int writes) {
    /** Sends them, each when the one before on its connection is answered. */
    Figure send() throws InterruptedException, ExecutionException {
      try (ExecutorService threads = Executors.newFixedThreadPool(lines.size())) {
        Figure.Start start = Figure.start();
        List<Future<?>> senders = new ArrayList<>();
        for (List<byte[]> line : lines) {
          senders.add(
              threads.submit(
                  () -> {
                    RawWrites.send(endpoint, line);
                    return null;
                  }));
        }
        for (Future<?> sender : senders) {
          var _ = sender.get();
        }
        return start.end(writes);
      }
    }
  }

  private static void send(URI endpoint, List<byte[]> requests) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), endpoint.getPort())) {
      socket.setTcpNoDelay(true);
      OutputStream out = socket.getOutputStream();
      InputStream in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
      for (byte[] request : requests) {
        out.write(request);
        pass(in);
      }
    }
  }

  /** Reads an answer, and sees that it is not an error. */
  private static void pass(InputStream in) throws IOException {
    String status = line(in);
    if (!status.endsWith("200 OK")) {
      throw new IOException(status);
    }
    int length = 0;
    for (String header = line(in); !header.isEmpty(); header = line(in)) {
      if (header.regionMatches(true, 0, "content-length: ", 0, 16)) {
        length = Integer.parseInt(header.substring(16));
      }
    }
    String body = new String(in.readNBytes(length), US_ASCII);
    if (body.contains("Error")) {
      throw new IOException(body);
    }
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new IOException("the connection has ended");
      }
      if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }
}
