package io.firstclaim.stack.server;

import io.firstclaim.lock.testkit.process.StackException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP port that nobody listens on, and that nobody else is given.
 *
 * <p>It is taken from below the range that the system gives to outgoing connections, so that a
 * server can be killed and started again on it without a client taking it in between. Each JVM has
 * a block of its own: two builds' servers, or two of one, cannot be told the same port while
 * neither listens yet.
 */
public final class FreePort {
  private static final int FIRST = 20_000;
  private static final int BLOCKS = 40;
  private static final int BLOCK = 300;

  /** Listens on the first port of this JVM's block until the JVM ends, which keeps others away. */
  private static final ServerSocket GUARD = guard();

  private static final AtomicInteger GIVEN = new AtomicInteger();

  private FreePort() {}

  /**
   * A port for one server of this JVM, which may take it at any time.
   *
   * @throws StackException if none is free
   */
  public static int next() {
    for (int attempt = 0; attempt < BLOCK; attempt++) {
      int port = GUARD.getLocalPort() + 1 + GIVEN.getAndIncrement() % (BLOCK - 1);
      if (isFree(port)) {
        return port;
      }
    }
    throw new StackException(
        "no free port in the %d from %d".formatted(BLOCK, GUARD.getLocalPort()));
  }

  private static ServerSocket guard() {
    for (int attempt = 0; attempt < 100; attempt++) {
      int port = FIRST + BLOCK * ThreadLocalRandom.current().nextInt(BLOCKS);
      try {
        return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
      } catch (IOException _) {
        // Another has this block.
      }
    }
    throw new StackException(
        "no free block of ports between %d and %d".formatted(FIRST, FIRST + BLOCKS * BLOCK));
  }

  private static boolean isFree(int port) {
    // On every interface, as DynamoDB Local binds: that reveals a listener on any of them.
    try (ServerSocket _ = new ServerSocket(port)) {
      return true;
    } catch (IOException _) {
      return false;
    }
  }
}
