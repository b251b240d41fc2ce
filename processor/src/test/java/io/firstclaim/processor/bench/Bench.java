package io.firstclaim.processor.bench;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.dynamodb.DynamoDbClaimStore;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.bench.DynamoDbWrites.Figure;
import io.firstclaim.processor.bench.DynamoDbWrites.Sender;
import io.firstclaim.processor.bench.Instance.Plan;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.stack.fault.FaultProxy;
import io.firstclaim.stack.server.ChildJvm;
import io.firstclaim.stack.server.FreePort;
import io.firstclaim.stack.server.JvmCommand;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.ToDoubleFunction;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** {@code mvn -Pbench}: one table, all in one run. */
public final class Bench {
  private static final RecordHandler NOTHING = _ -> HandlerResult.done();
  private static final List<String> ZONES = List.of("a", "b");

  /** Rounds of the two that are compared, in turn, as the machine's speed changes. */
  private static final int ROUNDS = 3;

  /** Rounds before them, for the JIT compiler. */
  private static final int WARM_UP = 5;

  private final Stack stack;
  private final Table table = new Table();

  private Bench(Stack stack) {
    this.stack = stack;
  }

  /** Runs the measurements named, or all. */
  public static void main(String[] args) throws Exception {
    List<String> wanted = List.of(args.length == 0 ? "all".split(",") : args[0].split(","));
    try (Stack stack = new Stack()) {
      Bench bench = new Bench(stack);
      if (wanted.contains("clients")) { // only when named: it compares what others wrote
        new HttpClients(stack).compare();
      }
      if (wants(wanted, "engine")) {
        bench.engine();
      }
      if (wants(wanted, "writes")) {
        bench.writes();
      }
      if (wants(wanted, "latency")) {
        bench.latency();
      }
      if (wants(wanted, "requests")) {
        bench.requests();
      }
      if (wants(wanted, "zones")) {
        bench.zones();
      }
      if (wants(wanted, "heap")) {
        bench.heap();
      }
      if (wants(wanted, "start")) {
        bench.start();
      }
      bench.table.print();
    }
    System.exit(0);
  }

  private static boolean wants(List<String> wanted, String name) {
    return wanted.contains("all") || wanted.contains(name);
  }

  /** The engine with the memory store and an empty handler, against a bare poll loop. */
  private void engine() throws Exception {
    int records = 1_000_000;
    String topic = stack.topicOf(records, 100);
    double bare = 0;
    double silent = 0;
    double announced = 0;
    for (int round = 0; round < 3; round++) { // the first ones warm up, the best one counts
      bare = Math.max(bare, barePoll(topic, records));
      announced = Math.max(announced, memoryEngine(topic, records, Instance.outcomes(stack)));
      silent = Math.max(silent, memoryEngine(topic, records, Optional.empty()));
    }
    engineRow("no outcomes topic", silent, bare);
    engineRow("outcomes published and read", announced, bare);
  }

  private void engineRow(String with, double rate, double bare) {
    table.add(
        "engine, memory store, empty handler, " + with,
        "%,.0f records/s".formatted(rate),
        "bare poll loop %,.0f records/s".formatted(bare),
        "%.1f %%".formatted(100 * rate / bare),
        "≥ 4 %",
        rate / bare >= 0.04);
  }

  private double memoryEngine(String topic, int records, Optional<String> outcomes)
      throws InterruptedException {
    Plan plan = Plan.of(topic, outcomes).zone(stack.name("zone"), List.of());
    ClaimStore store = new MemoryClaimStore(plan.store(), TimeSource.system());
    try (Instance zone = new Instance(stack, plan, store, NOTHING)) {
      double rate = Instance.measure(records, List.of(zone), Instance::completed).perSecond();
      System.out.printf(
          "  engine, %s: %,.0f records/s%n", outcomes.isPresent() ? "announced" : "silent", rate);
      return rate;
    }
  }

  private double barePoll(String topic, int records) {
    try (KafkaConsumer<byte[], byte[]> consumer = stack.consumer(stack.name("bare"))) {
      consumer.subscribe(List.of(topic));
      while (consumer.assignment().isEmpty()) {
        consumer.poll(Duration.ofMillis(10));
      }
      consumer.seekToBeginning(consumer.assignment());
      long start = System.nanoTime();
      int seen = 0;
      while (seen < records) {
        seen += consumer.poll(Duration.ofMillis(100)).count();
      }
      return seen / ((System.nanoTime() - start) / 1e9);
    }
  }

  /** Two writes a record, against the bare SDK doing the same at its best concurrency. */
  private void writes() throws Exception {
    int records = 10_000;
    List<Figure> raw = new ArrayList<>();
    List<Figure> own = new ArrayList<>();
    try (DynamoDbClient client = Stack.client(stack.dynamoDb())) {
      int best = bestConcurrency(client, records);
      for (int round = 0; round < WARM_UP + ROUNDS; round++) {
        Figure engine = dynamoDbEngine(records, stack.dynamoDb());
        Figure bare = DynamoDbWrites.raw(Sender.of(client), stack.table(), records, best);
        System.out.printf("  round %d: %s; bare SDK %s%n", round, engine, bare);
        if (round >= WARM_UP) {
          own.add(engine);
          raw.add(bare);
        }
      }
    }
    double rate = median(own, Figure::perSecond);
    double bareRate = median(raw, Figure::perSecond);
    table.add(
        "two writes a record on DynamoDB Local",
        "%,.0f records/s".formatted(rate),
        "bare SDK %,.0f records/s".formatted(bareRate),
        "%.0f %%".formatted(100 * rate / bareRate),
        "≥ 85 %",
        rate >= 0.85 * bareRate);
    double cpu = median(own, Figure::cpuMicros);
    double bareCpu = median(raw, Figure::cpuMicros);
    table.add(
        "CPU time a record of that run",
        "%.0f µs".formatted(cpu),
        "bare SDK %.0f µs".formatted(bareCpu),
        "%.2f".formatted(cpu / bareCpu),
        "≤ 1.15",
        cpu <= 1.15 * bareCpu);
  }

  private int bestConcurrency(DynamoDbClient client, int records) throws Exception {
    var _ =
        DynamoDbWrites.raw(Sender.of(client), stack.table(), records, 32); // warms both sides up
    int best = 0;
    double most = 0;
    for (int atOnce : new int[] {16, 32, 64, 96}) {
      Figure raw = DynamoDbWrites.raw(Sender.of(client), stack.table(), records, atOnce);
      System.out.printf("  bare SDK, %d at once: %s%n", atOnce, raw);
      if (raw.perSecond() > most) {
        most = raw.perSecond();
        best = atOnce;
      }
    }
    return best;
  }

  private static double median(List<Figure> figures, ToDoubleFunction<Figure> of) {
    return figures.stream().mapToDouble(of).sorted().skip(figures.size() / 2).findFirst().orElse(0);
  }

  private Figure dynamoDbEngine(int records, URI endpoint) throws Exception {
    Plan plan = Plan.of(stack.topicOf(records, 100), Instance.outcomes(stack));
    try (DynamoDbClient client = Stack.client(endpoint);
        Instance zone = new Instance(stack, plan, store(client, stack.table(), plan), NOTHING)) {
      return Instance.measure(records, List.of(zone), Instance::completed);
    }
  }

  private static DynamoDbClaimStore store(DynamoDbClient client, String claims, Plan plan) {
    return new DynamoDbClaimStore(
        client, claims, plan.store(), TimeSource.system(), StoreListener.NONE);
  }

  /** With 5 ms added to each request, against claim, handle, complete one after the other. */
  private void latency() throws Exception {
    try (FaultProxy proxy = FaultProxy.start(stack.dynamoDb())) {
      var _ = dynamoDbEngine(10_000, proxy.endpoint()); // warms all sides up
      proxy.latency(Duration.ofMillis(5));
      Figure naive;
      try (DynamoDbClient client = Stack.client(proxy.endpoint())) {
        Plan plan = Plan.of("", Optional.empty());
        naive = DynamoDbWrites.naive(store(client, stack.table(), plan), 300);
      }
      Figure engine = dynamoDbEngine(15_000, proxy.endpoint());
      double ratio = engine.perSecond() / naive.perSecond();
      table.add(
          "the same with 5 ms added to each request",
          "%,.0f records/s".formatted(engine.perSecond()),
          "naive loop %,.0f records/s".formatted(naive.perSecond()),
          "%.0f ×".formatted(ratio),
          "≥ 20 ×",
          ratio >= 20);
    }
  }

  /** Store requests for each record with two zones, counted at the proxy. */
  private void requests() throws Exception {
    for (boolean affinity : new boolean[] {false, true}) {
      int records = 6_000;
      String topic = stack.topicOf(records, 100);
      Optional<String> outcomes = Instance.outcomes(stack);
      String claims = stack.table();
      try (FaultProxy proxy = FaultProxy.start(stack.dynamoDb());
          DynamoDbClient clientA = Stack.client(proxy.endpoint());
          DynamoDbClient clientB = Stack.client(proxy.endpoint())) {
        Plan a = Plan.of(topic, outcomes).zone("a", affinity ? ZONES : List.of());
        Plan b = Plan.of(topic, outcomes).zone("b", affinity ? ZONES : List.of());
        RecordHandler handler =
            _ -> {
              Thread.sleep(2);
              return HandlerResult.done();
            };
        try (Instance zoneA = new Instance(stack, a, store(clientA, claims, a), handler);
            Instance zoneB = new Instance(stack, b, store(clientB, claims, b), handler)) {
          var _ =
              Instance.measure(
                  2L * records,
                  List.of(zoneA, zoneB),
                  zone -> zone.completed() + zone.duplicates());
          double each = (double) proxy.requests() / records;
          double most = affinity ? 2.1 : 2.6;
          table.add(
              "store requests a record, two zones, " + (affinity ? "with affinity" : "racing"),
              "%.2f".formatted(each),
              "%d records; %d by a, %d by b"
                  .formatted(records, zoneA.completed(), zoneB.completed()),
              "",
              "≤ " + most,
              each <= most);
        }
      }
    }
  }

  /** Two zones against one, 20 ms handlers, 64 in flight each. */
  private void zones() throws Exception {
    int records = 40_000;
    RecordHandler handler =
        _ -> {
          Thread.sleep(20);
          return HandlerResult.done();
        };
    double one = throughput(records, List.of("a"), handler);
    double two = throughput(records, ZONES, handler);
    table.add(
        "two zones, 20 ms handlers, 64 in flight each",
        "%,.0f records/s".formatted(two),
        "one zone %,.0f records/s".formatted(one),
        "%.2f ×".formatted(two / one),
        "≥ 1.7 ×",
        two / one >= 1.7);
  }

  private double throughput(int records, List<String> names, RecordHandler handler)
      throws Exception {
    String topic = stack.topicOf(records, 100);
    Optional<String> outcomes = Instance.outcomes(stack);
    MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
    List<Instance> zones = new ArrayList<>();
    for (String name : names) {
      Plan plan = Plan.of(topic, outcomes).zone(name, names).inFlight(64);
      zones.add(
          new Instance(
              stack,
              plan,
              new MemoryClaimStore(claims, plan.store(), TimeSource.system()),
              handler));
    }
    Figure figure = Instance.measure(records, zones, Instance::completed);
    for (Instance zone : zones) {
      zone.close();
    }
    return figure.perSecond();
  }

  /** Heap for each record in flight, beyond its payload. */
  private void heap() throws Exception {
    int records = 10_000;
    int bytes = 100;
    Plan plan = Plan.of(stack.topicOf(records, bytes), Instance.outcomes(stack)).inFlight(records);
    CountDownLatch release = new CountDownLatch(1);
    RecordHandler handler =
        _ -> {
          release.await();
          return HandlerResult.done();
        };
    ClaimStore store = new MemoryClaimStore(plan.store(), TimeSource.system());
    try (Instance zone = new Instance(stack, plan, store, handler)) {
      long before = usedHeap();
      var _ = Instance.measure(records, List.of(zone), Instance::inFlight);
      double each = (usedHeap() - before) / (double) records - bytes;
      release.countDown();
      table.add(
          "heap a record in flight, 10,000 in flight",
          "%.1f KB".formatted(each / 1024),
          "beyond the payload",
          "",
          "≤ 8 KB",
          each <= 8 * 1024);
    }
  }

  private static long usedHeap() throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(100);
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  /** From the start of the packaged service's process to its first claim. */
  private void start() throws Exception {
    List<Duration> times = new ArrayList<>();
    Path logs = Files.createDirectories(Path.of("target", "bench"));
    for (int round = 0; round < 3; round++) {
      String topic = stack.topicOf(1, 100);
      String claims = stack.table();
      try (FaultProxy proxy = FaultProxy.start(stack.dynamoDb())) {
        long begin = System.nanoTime();
        try (ChildJvm service =
            ChildJvm.start(
                JvmCommand.ofJar("service", Path.of(System.getProperty("processor.jar")))
                    .withEnv(
                        Map.of(
                            "FIRSTCLAIM_ZONE",
                            "a",
                            "FIRSTCLAIM_INPUT_TOPICS",
                            topic,
                            // Else it waits for the one before, which did not leave the group.
                            "FIRSTCLAIM_INPUT_GROUP",
                            topic,
                            "FIRSTCLAIM_CLAIM_DYNAMODB_TABLE",
                            claims,
                            "KAFKA_BOOTSTRAP_SERVERS",
                            stack.bootstrapServers(),
                            "AWS_ENDPOINT_URL_DYNAMODB",
                            proxy.endpoint().toString(),
                            "AWS_REGION",
                            "us-east-1",
                            "AWS_ACCESS_KEY_ID",
                            "local",
                            "AWS_SECRET_ACCESS_KEY",
                            "local",
                            "MICRONAUT_SERVER_PORT",
                            Integer.toString(FreePort.next()))),
                logs.resolve("service-%d.log".formatted(round)))) {
          service.awaitReady(
              "the first claim", () -> proxy.requests("UpdateItem") > 0, Duration.ofMinutes(1));
          times.add(Duration.ofNanos(System.nanoTime() - begin));
        }
      }
    }
    times.sort(null);
    double median = seconds(times.get(1));
    table.add(
        "start of the packaged service to its first claim",
        "%.1f s".formatted(median),
        "median of %d".formatted(times.size()),
        "",
        "≤ 3 s",
        median <= 3);
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() / 1e9;
  }
}
