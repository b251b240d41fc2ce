package io.firstclaim.stack.server;

import io.firstclaim.lock.testkit.process.StackException;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A TCP port that nobody listens on.
 *
 * <p>It is taken from below the range that the system gives to outgoing connections, so that a
 * server can be killed and started again on it without a client taking it in between.
 */
public final class FreePort {
  private static final int FIRST = 20_000;
  private static final int LAST = 32_000;

  private FreePort() {}

  public static int next() {
    for (int attempt = 0; attempt < 100; attempt++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      if (isFree(port)) {
        return port;
      }
    }
    throw new StackException("no free port between " + FIRST + " and " + LAST);
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
