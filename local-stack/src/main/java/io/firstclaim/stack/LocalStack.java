package io.firstclaim.stack;

import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.KafkaBroker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** Everything the main job runs: a broker, a store, the handler's service and two zones. */
final class LocalStack implements AutoCloseable {
  static final String TOPIC = "events";
  static final int PARTITIONS = 6;
  private static final List<String> ZONES = List.of("a", "b");
  private static final String REGION = "us-east-1";
  private static final String ACCESS_KEY = "local";
  private static final String SECRET_KEY = "local";

  private final Deque<AutoCloseable> running = new ArrayDeque<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final KafkaBroker kafka;
  private final Backend.Server store;
  private final HandlerServer handler;
  private final List<Zone> zones;
  private final Optional<Operator> operator;

  /** Starts the servers, and then the zones, which are not awaited. */
  LocalStack(JobOptions options, Ledger ledger) {
    Path directory = options.directory();
    empty(directory);
    this.operator = options.keep() ? Optional.of(Operator.make()) : Optional.empty();
    try {
      Future<Backend.Server> starting = inBackground(() -> store(options));
      this.kafka =
          add(KafkaBroker.start(directory.resolve("kafka"), JvmTuning.SHORT_RUN, Map.of()));
      kafka.createTopic(TOPIC, PARTITIONS);
      this.handler = add(HandlerServer.start(ledger));
      this.store = get(starting);
      this.zones =
          ZONES.stream()
              .map(
                  name ->
                      add(
                          new Zone(
                              name,
                              options.processorJar(),
                              options.backend(),
                              store,
                              directory,
                              environment(options))))
              .toList();
      operator.ifPresent(who -> zones.forEach(zone -> zone.shows(who.token())));
      zones.forEach(Zone::start);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private static Backend.Server store(JobOptions options) {
    Backend backend = options.backend();
    return options.aws().map(backend::inAws).orElseGet(() -> backend.start(options.directory()));
  }

  /** The AWS SDK's settings: those of a server here, or what this process was given. */
  private Map<String, String> aws() {
    if (store.endpoint().isPresent()) {
      return Map.of(
          "AWS_REGION",
          REGION,
          "AWS_ACCESS_KEY_ID",
          ACCESS_KEY,
          "AWS_SECRET_ACCESS_KEY",
          SECRET_KEY);
    }
    Map<String, String> given = new HashMap<>(System.getenv());
    given.keySet().removeIf(key -> !key.startsWith("AWS_"));
    // A bucket may have a policy, a table its TTL: nothing of that is changed.
    given.put("FIRSTCLAIM_CLAIM_CREATE", "false");
    return given;
  }

  private Map<String, String> environment(JobOptions options) {
    Map<String, String> all = new HashMap<>(settings(options.kill()));
    operator.ifPresent(
        who -> all.put("FIRSTCLAIM_ADMIN_TOKEN_FILE", who.writtenTo(options.directory())));
    all.putAll(store.settings());
    all.putAll(aws());
    return all;
  }

  private Map<String, String> settings(boolean kill) {
    return Map.ofEntries(
        Map.entry("KAFKA_BOOTSTRAP_SERVERS", kafka.bootstrapServers()),
        // A killed instance's partitions are dealt out anew after this.
        Map.entry("KAFKA_SESSION_TIMEOUT_MS", "3000"),
        Map.entry("KAFKA_HEARTBEAT_INTERVAL_MS", "500"),
        Map.entry("FIRSTCLAIM_ZONES", String.join(",", ZONES)),
        Map.entry("FIRSTCLAIM_INPUT_TOPICS", TOPIC),
        Map.entry("FIRSTCLAIM_INPUT_RECORD_ID", "key"),
        Map.entry("FIRSTCLAIM_CLAIM_CREATE", "true"),
        // Short if a zone is killed, so that nobody waits long for the takeovers.
        Map.entry("FIRSTCLAIM_CLAIM_LEASE", kill ? "5s" : "20s"),
        Map.entry("FIRSTCLAIM_HANDLER_TYPE", "http"),
        Map.entry("FIRSTCLAIM_HANDLER_HTTP_URL", handler.url().toString()));
  }

  /** Waits until both zones serve. */
  void awaitZones() {
    zones.stream().map(zone -> inBackground(() -> ready(zone))).toList().forEach(LocalStack::get);
  }

  private static Zone ready(Zone zone) {
    zone.awaitReady();
    return zone;
  }

  /**
   * The environment in which the AWS SDK and its command line see the zones' claims: DynamoDB Local
   * has a database of its own for every access key and region.
   */
  static String credentials() {
    return "AWS_REGION=%s AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=%s"
        .formatted(REGION, ACCESS_KEY, SECRET_KEY);
  }

  KafkaBroker kafka() {
    return kafka;
  }

  Backend.Server store() {
    return store;
  }

  HandlerServer handler() {
    return handler;
  }

  List<Zone> zones() {
    return zones;
  }

  /** Who may change something; nobody, unless the zones are left running. */
  Optional<Operator> operator() {
    return operator;
  }

  /** Ends everything at once, the last started first. */
  @Override
  public void close() {
    threads.shutdownNow();
    while (true) {
      AutoCloseable last;
      synchronized (running) {
        last = running.pollFirst();
      }
      if (last == null) {
        return;
      }
      try {
        last.close();
      } catch (Exception e) {
        throw new JobFailure("not everything could be stopped: " + e.getMessage(), e);
      }
    }
  }

  private <T extends AutoCloseable> Future<T> inBackground(Callable<T> start) {
    return threads.submit(
        () -> {
          T started = start.call();
          return started instanceof Zone ? started : add(started);
        });
  }

  private <T extends AutoCloseable> T add(T started) {
    synchronized (running) {
      running.addFirst(started);
    }
    return started;
  }

  private static <T> T get(Future<T> future) {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause
          ? cause
          : new JobFailure("cannot be started: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new JobFailure("interrupted", e);
    }
  }

  /** Deletes what an earlier run left. */
  private static void empty(Path directory) {
    try {
      if (Files.exists(directory)) {
        try (Stream<Path> files = Files.walk(directory)) {
          for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
            Files.delete(file);
          }
        }
      }
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new JobFailure(directory + " cannot be emptied: " + e.getMessage(), e);
    }
  }
}
