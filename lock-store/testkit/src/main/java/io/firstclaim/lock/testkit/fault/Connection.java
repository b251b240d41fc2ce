package io.firstclaim.lock.testkit.fault;

import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One client's connection to a {@link FaultProxy}, served by one thread. */
final class Connection implements Runnable {
  private static final byte[] CONTINUE =
      "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);

  private final FaultProxy proxy;
  private final Socket client;
  private volatile @Nullable Upstream upstream;
  private volatile boolean swallowed;
  private volatile boolean closed;

  Connection(FaultProxy proxy, Socket client) {
    this.proxy = proxy;
    this.client = client;
  }

  @Override
  public void run() {
    try {
      client.setTcpNoDelay(true);
      HttpReader reader = new HttpReader(client.getInputStream());
      boolean open = true;
      while (open) {
        String head = reader.readHead();
        if (head == null) {
          break;
        }
        open = serve(readRequest(reader, head));
      }
      client.shutdownOutput();
      client.close();
    } catch (IOException | InterruptedException unused) {
      // One side broke the connection, or the proxy was closed: the other side's is broken too.
    } finally {
      reset();
      proxy.ended(this);
    }
  }

  /** Reads the body, asking for it where the client waits for that. */
  private Request readRequest(HttpReader reader, String head) throws IOException {
    if (HttpMessage.header(head, "Expect") == null) {
      return new Request(reader.readRequest(head));
    }
    passThrough();
    client.getOutputStream().write(CONTINUE);
    return new Request(reader.readRequest(head).without("Expect"));
  }

  /** Serves one request; false if the connection is then to be closed. */
  private boolean serve(Request request) throws IOException, InterruptedException {
    Fault fault = proxy.received(request);
    sleep(proxy.latency());
    return switch (fault) {
      case null -> answer(request, forward(request));
      case Fault.DelayRequest(Duration by) -> {
        sleep(by);
        yield answer(request, forward(request));
      }
      case Fault.DelayResponse(Duration by) -> {
        HttpMessage response = forward(request);
        sleep(by);
        yield answer(request, response);
      }
      case Fault.HoldLastByte(Duration by) -> {
        HttpMessage response = forward(request);
        yield answerInTwo(request, response, by);
      }
      case Fault.BreakOff() -> {
        byte[] bytes = forward(request).bytes();
        client.getOutputStream().write(bytes, 0, bytes.length - 1);
        yield false;
      }
      case Fault.LoseResponse() -> {
        var unused = forward(request);
        yield hang();
      }
      case Fault.ResetAfterApply() -> {
        var unused = forward(request);
        yield resetAndEnd();
      }
      case Fault.Duplicate() -> {
        HttpMessage first = forward(request);
        var unused = forward(request);
        yield answer(request, first);
      }
      case Fault.DelayedDuplicate(Duration after) -> {
        HttpMessage response = forward(request);
        proxy.threads().execute(() -> repeat(request, after));
        yield answer(request, response);
      }
      case Fault.Refuse() -> resetAndEnd();
      case Fault.Answer given -> answer(request, response(given));
    };
  }

  /** Sends the request on and reads the response. */
  private HttpMessage forward(Request request) throws IOException {
    passThrough();
    Upstream used = upstream;
    if (used == null || used.isStale()) {
      closeUpstream();
      used = new Upstream(proxy.upstream());
      upstream = used;
      if (closed) {
        throw new EOFException("cut");
      }
    }
    HttpMessage response = proxy.exchange(used, request);
    if (response.asksToClose()) {
      closeUpstream();
    }
    return response;
  }

  private void repeat(Request request, Duration after) {
    try {
      sleep(after);
      try (Upstream again = new Upstream(proxy.upstream())) {
        var unused = proxy.exchange(again, request);
      }
    } catch (IOException unused) {
      // Nobody misses a duplicate that does not arrive.
    } catch (InterruptedException unused) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean answer(Request request, HttpMessage response) throws IOException {
    passThrough();
    client.getOutputStream().write(response.bytes());
    return isKept(request, response);
  }

  private boolean answerInTwo(Request request, HttpMessage response, Duration pause)
      throws IOException, InterruptedException {
    passThrough();
    byte[] bytes = response.bytes();
    client.getOutputStream().write(bytes, 0, bytes.length - 1);
    sleep(pause);
    client.getOutputStream().write(bytes, bytes.length - 1, 1);
    return isKept(request, response);
  }

  private static boolean isKept(Request request, HttpMessage response) {
    return !request.message().asksToClose() && !response.asksToClose();
  }

  private static HttpMessage response(Fault.Answer answer) {
    byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
    StringBuilder head = new StringBuilder("HTTP/1.1 " + answer.status() + " Fault\r\n");
    answer.headers().forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
    head.append("Content-Length: " + body.length + "\r\n\r\n");
    return new HttpMessage(head.toString(), body, false);
  }

  /** Passes only where the network is open; in a black hole it waits for the connection's end. */
  private void passThrough() throws IOException {
    if (closed) {
      throw new EOFException("cut");
    }
    if (proxy.network() == FaultProxy.Network.BLACKHOLE) {
      swallowed = true;
      if (proxy.network() == FaultProxy.Network.BLACKHOLE) {
        hang();
      }
      throw new EOFException("swallowed");
    }
  }

  /** Reads and drops what the client still sends, until one side closes. */
  private boolean hang() throws IOException {
    byte[] dropped = new byte[1024];
    while (client.getInputStream().read(dropped) >= 0) {
      // Nothing is answered.
    }
    return false;
  }

  private boolean resetAndEnd() {
    reset();
    return false;
  }

  boolean isSwallowed() {
    return swallowed;
  }

  /** Breaks the connection to the client with a reset, and that to the server. */
  void reset() {
    closed = true;
    try {
      client.setSoLinger(true, 0);
      client.close();
    } catch (IOException unused) {
      // Already closed.
    }
    closeUpstream();
  }

  private void closeUpstream() {
    Upstream used = upstream;
    if (used != null) {
      used.close();
      upstream = null;
    }
  }

  private static void sleep(Duration duration) throws InterruptedException {
    if (duration.isPositive()) {
      Thread.sleep(duration);
    }
  }
}
