package io.firstclaim.processor.service.scenario;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.firstclaim.stack.server.FreePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/** The system behind the {@code http} handlers of all zones: keeps every call, answers as told. */
final class Sink implements AutoCloseable {
  private static final int BACKLOG = 4096;

  static {
    // The server's defaults close idle connections under the feet of a client that uses them again.
    System.setProperty("sun.net.httpserver.maxIdleConnections", "100000");
    System.setProperty("sun.net.httpserver.idleInterval", "600");
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  /** What becomes of a call. May block, which is how long the handler takes. */
  @FunctionalInterface
  interface Behaviour {
    /** The status of the answer. */
    int answer(Call call) throws InterruptedException;
  }

  private volatile HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Queue<Call> calls = new ConcurrentLinkedQueue<>();
  private final Map<String, Queue<Call>> byId = new ConcurrentHashMap<>();
  private volatile Behaviour behaviour = _ -> 200;

  Sink() throws IOException {
    server = listen(FreePort.next()); // or another could take it while nobody listens
  }

  private HttpServer listen(int port) throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    HttpServer listening = HttpServer.create(address, BACKLOG);
    listening.setExecutor(threads);
    listening.createContext("/", this::serve);
    listening.start();
    return listening;
  }

  /** Nobody listens any more, and connections are closed. */
  void goAway() {
    server.stop(0);
  }

  /** Listens again where it did before. */
  void comeBack() throws IOException {
    server = listen(server.getAddress().getPort());
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/records";
  }

  /** Does this to the calls from now on. */
  void behave(Behaviour next) {
    behaviour = next;
  }

  /** Answers 200 after a random time. */
  static Behaviour takes(Duration least, Duration most) {
    return _ -> {
      takeTime(least, most);
      return 200;
    };
  }

  /** What a handler does that takes its time: part of what is tried, never a wait of the test. */
  static void takeTime(Duration least, Duration most) throws InterruptedException {
    Thread.sleep(ThreadLocalRandom.current().nextLong(least.toMillis(), most.toMillis() + 1));
  }

  /** All calls so far, in the order in which they came. */
  List<Call> calls() {
    return List.copyOf(calls);
  }

  List<Call> callsOf(String id) {
    return List.copyOf(byId.getOrDefault(id, new ConcurrentLinkedQueue<>()));
  }

  /** The tokens of the calls of an ID, in their order. */
  List<Long> tokensOf(String id) {
    return callsOf(id).stream().map(Call::token).toList();
  }

  List<Call> callsBy(String zone) {
    return calls.stream().filter(call -> call.zone().equals(zone)).toList();
  }

  /** The IDs of all calls so far. */
  Set<String> called() {
    return Set.copyOf(byId.keySet());
  }

  /** The calls that are not answered. */
  List<Call> underWay() {
    return calls.stream().filter(call -> call.end() == null).toList();
  }

  private void serve(HttpExchange exchange) throws IOException {
    Call call = new Call(exchange.getRequestHeaders(), exchange.getRequestBody().readAllBytes());
    boolean warmUp = call.id().startsWith(Scenario.WARM_UP);
    if (!warmUp) {
      calls.add(call);
      byId.computeIfAbsent(call.id(), _ -> new ConcurrentLinkedQueue<>()).add(call);
    }
    try {
      int status = warmUp ? 200 : behaviour.answer(call);
      call.ended();
      exchange.sendResponseHeaders(status, -1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the sink is closed
    } finally {
      exchange.close();
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    calls.forEach(call -> call.answer(503));
    server.stop(0);
  }
}
