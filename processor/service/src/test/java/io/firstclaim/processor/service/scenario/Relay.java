package io.firstclaim.processor.service.scenario;

import io.firstclaim.stack.server.FreePort;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Passes connections on to a port of this machine, byte for byte, and may be cut off. */
final class Relay implements AutoCloseable {
  private static final int BUFFER = 64 << 10;

  private final int target;
  private final ServerSocket server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile boolean cutOff;

  /** Listens for a port that nobody need listen at yet. */
  Relay(int target) throws IOException {
    this.target = target;
    server = new ServerSocket(FreePort.next(), 1024, InetAddress.getLoopbackAddress());
    threads.execute(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  /** From now on nothing passes: what is sent is lost, and nobody is told. */
  void cutOff() {
    cutOff = true;
  }

  /** Ends it; connections from before end, as bytes of theirs are lost. */
  void mend() {
    sockets.forEach(Relay::close);
    cutOff = false;
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        sockets.add(client);
        threads.execute(() -> connect(client));
      } catch (IOException _) {
        // It was closed, or the client is gone.
      }
    }
  }

  private void connect(Socket client) {
    try (Socket broker = new Socket(InetAddress.getLoopbackAddress(), target)) {
      sockets.add(broker);
      threads.execute(() -> pass(client, broker));
      pass(broker, client);
      boolean _ = sockets.remove(broker);
    } catch (IOException _) {
      // The broker is not there.
    } finally {
      boolean _ = sockets.remove(client);
      close(client);
    }
  }

  private void pass(Socket from, Socket to) {
    byte[] buffer = new byte[BUFFER];
    try (InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (!cutOff) {
          out.write(buffer, 0, read);
        }
      }
    } catch (IOException _) {
      // One of the two has closed it.
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException _) {
      // It is of no use any more.
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    sockets.forEach(Relay::close);
    threads.shutdownNow();
  }
}
