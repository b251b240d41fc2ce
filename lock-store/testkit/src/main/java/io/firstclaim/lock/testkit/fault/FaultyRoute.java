package io.firstclaim.lock.testkit.fault;

import java.net.URI;
import java.util.function.Function;

/**
 * The ways to a server: past a proxy that makes faults, and through it by two clients, with and
 * without retries of their own. Thread-safe.
 *
 * @param <C> a client
 */
public final class FaultyRoute<C extends AutoCloseable> implements AutoCloseable {
  private final FaultProxy proxy;
  private final C direct;
  private final C retrying;
  private final C notRetrying;

  /** How the server is reached. */
  public enum Way {
    /** Past the proxy. */
    DIRECT,
    /** Through the proxy, by a client that retries. */
    RETRYING,
    /** Through the proxy, by a client that does not. */
    NOT_RETRYING
  }

  private FaultyRoute(FaultProxy proxy, C direct, C retrying, C notRetrying) {
    this.proxy = proxy;
    this.direct = direct;
    this.retrying = retrying;
    this.notRetrying = notRetrying;
  }

  /**
   * The ways to a server.
   *
   * @param direct a client of the server, which stays the caller's
   * @param retrying makes a client that goes through this proxy
   * @param notRetrying the same, without retries
   */
  public static <C extends AutoCloseable> FaultyRoute<C> to(
      URI server, C direct, Function<FaultProxy, C> retrying, Function<FaultProxy, C> notRetrying) {
    FaultProxy proxy = FaultProxy.start(server);
    return new FaultyRoute<>(proxy, direct, retrying.apply(proxy), notRetrying.apply(proxy));
  }

  public FaultProxy proxy() {
    return proxy;
  }

  /** The client that goes this way. */
  public C by(Way way) {
    return switch (way) {
      case DIRECT -> direct;
      case RETRYING -> retrying;
      case NOT_RETRYING -> notRetrying;
    };
  }

  /** Closes the proxy and the two clients that go through it. */
  @Override
  public void close() {
    proxy.close();
    close(retrying);
    close(notRetrying);
  }

  private void close(C client) {
    try {
      client.close();
    } catch (Exception e) {
      throw new IllegalStateException("a client does not close", e);
    }
  }
}
