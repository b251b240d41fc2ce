package io.firstclaim.processor.service.handler;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A server that says what it likes on a connection. */
final class RawServer implements AutoCloseable {
  /** What is said after a request's headers were read. */
  interface Answer {
    void say(OutputStream out) throws IOException;
  }

  private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch hungUp = new CountDownLatch(1);

  RawServer(Answer answer) throws IOException {
    threads.execute(
        () -> {
          try {
            while (true) {
              Socket connection = socket.accept();
              threads.execute(() -> serve(connection, answer));
            }
          } catch (IOException e) {
            hungUp.countDown(); // it was closed
          }
        });
  }

  private void serve(Socket connection, Answer answer) {
    try (connection) {
      BufferedReader in =
          new BufferedReader(
              new InputStreamReader(connection.getInputStream(), StandardCharsets.US_ASCII));
      String line = in.readLine();
      while (line != null && !line.isEmpty()) {
        line = in.readLine();
      }
      answer.say(connection.getOutputStream());
    } catch (IOException e) {
      hungUp.countDown();
    }
  }

  static void say(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.ISO_8859_1));
    out.flush();
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + socket.getLocalPort() + "/records");
  }

  /** Whether the other side broke a connection off while it was spoken to. */
  boolean isHungUpOn(long seconds) throws InterruptedException {
    return hungUp.await(seconds, TimeUnit.SECONDS);
  }

  @Override
  public void close() throws IOException {
    socket.close();
    threads.shutdownNow();
  }
}
