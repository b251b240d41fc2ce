package io.firstclaim.lock.testkit.fault;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** What the proxy costs: keep-alive requests a second, without it, through it, and delayed. */
final class ProxyBenchmark {
  private static final int CLIENTS = 64;
  private static final int REQUESTS = 2_000;
  private static final String BODY = "x".repeat(700);
  private static final byte[] REQUEST =
      ("POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\n"
              + "Authorization: "
              + "a".repeat(300)
              + "\r\nContent-Length: 700\r\n\r\n"
              + BODY)
          .getBytes(StandardCharsets.ISO_8859_1);
  private static final byte[] RESPONSE =
      "HTTP/1.1 200 OK\r\nContent-Type: x\r\nContent-Length: 2\r\n\r\n{}"
          .getBytes(StandardCharsets.ISO_8859_1);

  private ProxyBenchmark() {}

  public static void main(String[] args) throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        ServerSocket server = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress())) {
      var _ = threads.submit(() -> serve(server, threads));
      int direct = server.getLocalPort();
      try (FaultProxy proxy = FaultProxy.start(URI.create("http://127.0.0.1:" + direct))) {
        int proxied = proxy.endpoint().getPort();
        for (int round = 0; round < 3; round++) {
          System.out.printf("direct  %,8.0f requests/s%n", run(threads, direct));
          System.out.printf("proxied %,8.0f requests/s%n", run(threads, proxied));
        }
        proxy.latency(Duration.ofMillis(5));
        System.out.printf("+ 5 ms  %,8.0f requests/s%n", run(threads, proxied));
      }
    }
  }

  private static double run(ExecutorService threads, int port) throws Exception {
    long start = System.nanoTime();
    List<Future<?>> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(threads.submit(() -> call(port)));
    }
    for (Future<?> client : clients) {
      var _ = client.get();
    }
    return CLIENTS * REQUESTS * 1e9 / (System.nanoTime() - start);
  }

  private static Object call(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      OutputStream out = socket.getOutputStream();
      InputStream in = socket.getInputStream();
      byte[] response = new byte[RESPONSE.length];
      for (int i = 0; i < REQUESTS; i++) {
        out.write(REQUEST);
        if (in.readNBytes(response, 0, response.length) < response.length) {
          throw new IOException("closed");
        }
      }
    }
    return port;
  }

  private static Object serve(ServerSocket server, ExecutorService threads) throws IOException {
    while (true) {
      Socket socket = server.accept();
      socket.setTcpNoDelay(true);
      var _ = threads.submit(() -> answer(socket));
    }
  }

  private static Object answer(Socket socket) throws IOException {
    byte[] request = new byte[REQUEST.length];
    while (socket.getInputStream().readNBytes(request, 0, request.length) == request.length) {
      socket.getOutputStream().write(RESPONSE);
    }
    socket.close();
    return socket;
  }
}
