package io.firstclaim.lock.testkit.fault;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;

/** A connection to the server behind a {@link FaultProxy}. */
final class Upstream implements AutoCloseable {
  /** A connection idle for longer may be about to be closed by the server. */
  private static final Duration STALE = Duration.ofSeconds(2);

  private final Socket socket;
  private final OutputStream out;
  private final HttpReader reader;
  private long lastUse = System.nanoTime();

  Upstream(URI server) throws IOException {
    this.socket = new Socket(server.getHost(), server.getPort());
    socket.setTcpNoDelay(true);
    this.out = socket.getOutputStream();
    this.reader = new HttpReader(socket.getInputStream());
  }

  boolean isStale() {
    return System.nanoTime() - lastUse > STALE.toNanos();
  }

  HttpMessage exchange(HttpMessage request, String method) throws IOException {
    out.write(request.bytes());
    HttpMessage response = reader.readResponse(method);
    lastUse = System.nanoTime();
    return response;
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException unused) {
      // It is of no more use either way.
    }
  }
}
