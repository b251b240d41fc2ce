package io.firstclaim.lock.testkit.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1.1 proxy in front of a store, on a free port of 127.0.0.1.
 *
 * <p>It counts the requests by operation, adds latency, applies {@link Rule}s to single requests
 * and takes the network away altogether. Every client connection has one upstream connection and
 * one virtual thread; messages are passed on byte for byte, but for {@link #makeETagsOpaque()}. The
 * first rule that matches a request is the one applied.
 */
public final class FaultProxy implements AutoCloseable {

  /** What the network is like. */
  enum Network {
    OPEN,
    CUT,
    BLACKHOLE
  }

  private final URI upstream;
  private final ServerSocket server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
  private final List<Rule> rules = new CopyOnWriteArrayList<>();
  private final Map<String, LongAdder> counters = new ConcurrentHashMap<>();
  private volatile Duration latency = Duration.ZERO;
  private volatile Network network = Network.OPEN;
  private volatile boolean hasOpaqueETags;
  private volatile Semaphore turns = new Semaphore(Integer.MAX_VALUE);

  private FaultProxy(URI upstream, ServerSocket server) {
    this.upstream = upstream;
    this.server = server;
  }

  /** Starts a proxy in front of {@code upstream}, an {@code http} address with a port. */
  public static FaultProxy start(URI upstream) {
    try {
      FaultProxy proxy =
          new FaultProxy(upstream, new ServerSocket(0, 1024, InetAddress.getLoopbackAddress()));
      proxy.threads.execute(proxy::accept);
      return proxy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Where clients connect to. */
  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + server.getLocalPort());
  }

  /** The requests received since the start or the last {@link #reset()}. */
  public long requests() {
    return counters.values().stream().mapToLong(LongAdder::sum).sum();
  }

  /** The requests of one operation, such as {@code PutItem} or {@code PUT}. */
  public long requests(String operation) {
    LongAdder counter = counters.get(operation);
    return counter == null ? 0 : counter.sum();
  }

  /** The requests by operation. */
  public SortedMap<String, Long> requestsByOperation() {
    SortedMap<String, Long> all = new TreeMap<>();
    counters.forEach((operation, counter) -> all.put(operation, counter.sum()));
    return all;
  }

  /** Sets the counters to zero. */
  public void reset() {
    counters.clear();
  }

  /** Adds a rule, behind those that are there, and returns it. */
  public Rule add(Rule rule) {
    rules.add(rule);
    return rule;
  }

  public void remove(Rule rule) {
    rules.remove(rule);
  }

  /** Removes all rules. */
  public void clear() {
    rules.clear();
  }

  /** Whether a request may meet a fault now: there is a rule that still applies, or no network. */
  public boolean isFaulty() {
    return network != Network.OPEN || rules.stream().anyMatch(Rule::isInForce);
  }

  /** Delays every request by this from now on, without limiting how many are under way. */
  public void latency(Duration latency) {
    this.latency = latency;
  }

  /**
   * Shows clients ETags that are no MD5, as those of S3 are where a key of KMS encrypts, and takes
   * these in {@code If-Match} from now on. No ETag in a body is changed, and no signature is made
   * anew.
   */
  public void makeETagsOpaque() {
    hasOpaqueETags = true;
  }

  /**
   * Passes on one request after the other from now on: a server that keeps its conditions but in
   * races then keeps them.
   */
  public void takeTurns() {
    turns = new Semaphore(1);
  }

  /** Resets all connections, and new ones as they come; requests under way are not answered. */
  public void cut() {
    network = Network.CUT;
    connections.forEach(Connection::reset);
  }

  /** Takes connections and requests from now on, passes nothing on and answers nothing. */
  public void blackhole() {
    network = Network.BLACKHOLE;
  }

  /** Ends {@link #cut()} or {@link #blackhole()}; connections that were swallowed are reset. */
  public void restore() {
    network = Network.OPEN;
    connections.stream().filter(Connection::isSwallowed).forEach(Connection::reset);
  }

  /** Closes all connections and the port. */
  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    connections.forEach(Connection::reset);
    threads.shutdownNow();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        Connection connection = new Connection(this, client);
        connections.add(connection);
        if (network == Network.CUT || server.isClosed()) {
          connection.reset();
          connections.remove(connection);
        } else {
          threads.execute(connection);
        }
      } catch (IOException unused) {
        // The port was closed, or a client was gone before it was taken.
      }
    }
  }

  URI upstream() {
    return upstream;
  }

  /** Sends a request to the server, in its turn, and returns what the client is answered. */
  HttpMessage exchange(Upstream server, Request request) throws IOException {
    HttpMessage sent = hasOpaqueETags ? OpaqueETags.toServer(request.message()) : request.message();
    HttpMessage response;
    Semaphore turn = turns;
    turn.acquireUninterruptibly();
    try {
      response = server.exchange(sent, request.method());
    } finally {
      turn.release();
    }
    return hasOpaqueETags ? OpaqueETags.toClient(response) : response;
  }

  ExecutorService threads() {
    return threads;
  }

  Network network() {
    return network;
  }

  Duration latency() {
    return latency;
  }

  /** Counts a request and says what is to be done to it; null for nothing. */
  @Nullable Fault received(Request request) {
    counters.computeIfAbsent(request.operation(), unused -> new LongAdder()).increment();
    for (Rule rule : rules) {
      if (rule.take(request)) {
        return rule.fault();
      }
    }
    return null;
  }

  void ended(Connection connection) {
    connections.remove(connection);
  }
}
