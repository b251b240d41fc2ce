package io.firstclaim.bench;

import io.firstclaim.bench.Instance.Plan;
import io.firstclaim.bench.standin.StandIn;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.stack.server.FreePort;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.nio.charset.StandardCharsets;
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

/** {@code mvn -Pbench}: one table, all in one run. */
public final class Bench {
  private static final int ENGINE_ROUNDS = 3;
  private static final RecordHandler NOTHING = _ -> HandlerResult.done();
  private static final List<String> ZONES = List.of("a", "b");
  private static final Path LOGS = Path.of("target", "bench").toAbsolutePath();

  private final Stack stack;
  private final Table table = new Table();

  private Bench(Stack stack) {
    this.stack = stack;
  }

  /**
   * Runs the measurements named, or all; with {@code dynamodb} or {@code s3}, on that store only.
   * With a commit as the system property {@code before}, those that can be compared with its code.
   */
  public static void main(String[] args) throws Exception {
    List<String> wanted = List.of(args.length == 0 ? "all".split(",") : args[0].split(","));
    if (wanted.contains("serve")) { // the stand-in alone, for the contracts of the DynamoDB stores
      StandIn.main(new String[] {Integer.toString(FreePort.next()), "0"});
    }
    String before = System.getProperty("before", "");
    try (Stack stack = new Stack()) {
      Bench bench = new Bench(stack);
      if (!before.isBlank()) {
        bench.against(CodeBefore.of(before), wanted);
        System.exit(0);
      }
      if (wants(wanted, "engine")) {
        bench.engine();
      }
      if (wants(wanted, "http")) {
        WaysInBench.http(bench.table);
      }
      try (DynamoDb dynamoDb = DynamoDb.local(stack)) {
        if (wanted.contains("clients")) { // only when named: it compares what others wrote
          new HttpClients(dynamoDb).compare();
        }
        if (wanted.contains("peers")) { // likewise
          new PeersBench(stack, dynamoDb, bench.table).compare();
        }
        if (!wanted.contains("s3")) {
          bench.store(dynamoDb, StoreBench.Targets.OF_DYNAMODB, wanted);
        }
        if (wants(wanted, "start")) {
          bench.start(dynamoDb);
          new WaysInBench(dynamoDb, bench.table).shell();
        }
      }
      try (S3 s3 = new S3(stack)) {
        if (!wanted.contains("dynamodb")) {
          bench.store(s3, StoreBench.Targets.OF_S3, wanted);
        }
        if (wants(wanted, "registry")) {
          try (DynamoDb dynamoDb = DynamoDb.local(stack)) {
            new RegistryBench(stack, s3, dynamoDb, bench.table).updates();
          }
        }
        if (wants(wanted, "dataset")) {
          new DatasetBench(stack, s3, bench.table).root();
        }
      }
      if (wanted.contains("stand-in")) { // only when named: it takes both cores for some minutes
        new StandInBench(stack, bench.table).all();
      }
      if (wants(wanted, "zones")) {
        bench.zones();
      }
      if (wants(wanted, "partition")) {
        bench.partition();
      }
      if (wants(wanted, "resource")) {
        bench.resource();
      }
      if (wants(wanted, "heap")) {
        bench.heap();
      }
      bench.table.print();
    }
    System.exit(0);
  }

  /** Today's code against that of a commit. */
  private void against(CodeBefore before, List<String> wanted) throws Exception {
    if (wanted.contains("cold")) { // only when named: it trains two AOT caches
      try (DynamoDb dynamoDb = DynamoDb.standIn(stack, Duration.ZERO)) {
        new ColdBench(stack, dynamoDb, table).compare(before);
      }
    }
    BeforeBench comparison = new BeforeBench(stack, before, table);
    if (wants(wanted, "engine")) {
      comparison.engine();
    }
    if (wants(wanted, "writes") && !wanted.contains("s3")) {
      try (DynamoDb dynamoDb = DynamoDb.local(stack)) {
        comparison.writes(dynamoDb);
      }
    }
    if (wants(wanted, "writes") && !wanted.contains("dynamodb")) {
      try (S3 s3 = new S3(stack)) {
        comparison.writes(s3);
      }
    }
    if (wanted.contains("contention")) { // only when named: it takes a quarter of an hour
      var contention = new ContentionBench(Optional.of(before), table);
      if (!wanted.contains("s3")) {
        try (DynamoDb dynamoDb = DynamoDb.local(stack)) {
          contention.all(dynamoDb);
        }
      }
      if (!wanted.contains("dynamodb")) {
        try (S3 s3 = new S3(stack)) {
          contention.all(s3);
        }
      }
    }
    table.print();
  }

  private void store(Backend backend, StoreBench.Targets targets, List<String> wanted)
      throws Exception {
    StoreBench bench = new StoreBench(stack, backend, targets, table);
    if (backend instanceof DynamoDb && wants(wanted, "engine")) {
      bench.ownPart();
    }
    if (wants(wanted, "writes")) {
      bench.writes();
    }
    if (wants(wanted, "audit")) {
      bench.audit();
    }
    if (backend instanceof DynamoDb && wants(wanted, "idle")) {
      bench.idle();
    }
    if (wants(wanted, "latency")) {
      bench.latency();
    }
    if (wants(wanted, "requests")) {
      bench.requests();
    }
    if (wants(wanted, "drain")) {
      bench.drain();
    }
    if (wants(wanted, "contention")) {
      new ContentionBench(Optional.empty(), table).all(backend);
    }
  }

  private static boolean wants(List<String> wanted, String name) {
    return wanted.contains("all") || wanted.contains(name);
  }

  /** The engine with the memory store and an empty handler, against a bare poll loop. */
  private void engine() throws Exception {
    int records = 1_000_000;
    String topic = stack.topicOf(records, 100);
    List<EngineRound> rounds = new ArrayList<>();
    for (int round = 0; round <= ENGINE_ROUNDS; round++) {
      double bare = barePoll(topic, records);
      double announced = memoryEngine(topic, records, Instance.outcomes(stack));
      double silent = memoryEngine(topic, records, Optional.empty());
      try (OpenTelemetrySdk telemetry = discarding()) {
        double traced = memoryEngine(topic, records, Optional.empty(), telemetry);
        if (round > 0) { // the first one warms up
          rounds.add(new EngineRound(bare, announced, silent, traced));
        }
      }
    }
    engineRow("engine, memory store, empty handler", rounds, EngineRound::silent);
    engineRow("the same, outcomes published and read", rounds, EngineRound::announced);
    double ratio = Median.of(rounds, round -> round.traced / round.silent);
    table.add(
        "the same without outcomes, traced, spans discarded",
        "%,.0f records/s".formatted(Median.of(rounds, EngineRound::traced)),
        "not traced %,.0f records/s".formatted(Median.of(rounds, EngineRound::silent)),
        "%.0f %%".formatted(100 * ratio),
        "≥ 15 %",
        ratio >= 0.15);
  }

  /** The rate of a run, in records a second. */
  private record EngineRound(double bare, double announced, double silent, double traced) {}

  /** A tracer that makes all spans and sends none. */
  private static OpenTelemetrySdk discarding() {
    SpanExporter nowhere = SpanExporter.composite(List.of());
    return OpenTelemetrySdk.builder()
        .setTracerProvider(
            SdkTracerProvider.builder()
                .addSpanProcessor(BatchSpanProcessor.builder(nowhere).build())
                .build())
        .build();
  }

  private void engineRow(String what, List<EngineRound> rounds, ToDoubleFunction<EngineRound> own) {
    double ratio = Median.of(rounds, round -> own.applyAsDouble(round) / round.bare);
    table.add(
        what,
        "%,.0f records/s".formatted(Median.of(rounds, own)),
        "bare poll loop %,.0f records/s".formatted(Median.of(rounds, EngineRound::bare)),
        "%.1f %%".formatted(100 * ratio),
        "≥ 4 %",
        ratio >= 0.04);
  }

  private double memoryEngine(String topic, int records, Optional<String> outcomes)
      throws InterruptedException {
    return memoryEngine(topic, records, outcomes, OpenTelemetry.noop());
  }

  private double memoryEngine(
      String topic, int records, Optional<String> outcomes, OpenTelemetry telemetry)
      throws InterruptedException {
    Plan plan = Plan.of(topic, outcomes).zone(stack.name("zone"), List.of());
    ClaimStore store = new MemoryClaimStore(plan.store(), TimeSource.system());
    try (Instance zone = new Instance(stack, plan, store, NOTHING, telemetry)) {
      double rate = Instance.measure(records, List.of(zone), Instance::completed).perSecond();
      System.out.printf(
          "  engine, %s%s: %,.0f records/s%n",
          outcomes.isPresent() ? "announced" : "silent",
          telemetry.equals(OpenTelemetry.noop()) ? "" : ", traced",
          rate);
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

  /** One partition of four whose records all wait for an hour, against four healthy ones. */
  private void partition() throws Exception {
    int records = 400_000;
    double healthy = 0;
    double poisoned = 0;
    for (int round = 0; round < 3; round++) { // the first ones warm up, the best one counts
      healthy = Math.max(healthy, ofFourPartitions(records, records, _ -> HandlerResult.done()));
      poisoned =
          Math.max(
              poisoned,
              ofFourPartitions(
                  records,
                  records * 3 / 4,
                  context ->
                      context.record().partition() == 0
                          ? new HandlerResult.Retry("poisoned", Optional.of(Duration.ofHours(1)))
                          : HandlerResult.done()));
    }
    table.add(
        "one poisoned partition of four, memory store",
        "%,.0f records/s".formatted(poisoned),
        "all healthy %,.0f records/s".formatted(healthy),
        "%.0f %%".formatted(100 * poisoned / healthy),
        "≥ 70 %",
        poisoned / healthy >= 0.7);
  }

  private double ofFourPartitions(int records, int toComplete, RecordHandler handler)
      throws Exception {
    Plan plan = Plan.of(stack.topicOf(records, 100, 4), Optional.empty());
    ClaimStore store = new MemoryClaimStore(plan.store(), TimeSource.system());
    try (Instance zone = new Instance(stack, plan, store, handler)) {
      return Instance.measure(toComplete, List.of(zone), Instance::completed).perSecond();
    }
  }

  /** Records that all touch one thing, so that they go one after the other. */
  private void resource() throws Exception {
    int records = 640;
    Duration each = Duration.ofMillis(20);
    byte[] value = "{\"touches\":\"one\"}".getBytes(StandardCharsets.UTF_8);
    Plan plan =
        Plan.of(stack.topicOf(records, 1, _ -> value), Instance.outcomes(stack))
            .resources("json:/touches");
    ClaimStore store = new MemoryClaimStore(plan.store(), TimeSource.system());
    RecordHandler handler =
        _ -> {
          Thread.sleep(each);
          return HandlerResult.done();
        };
    try (Instance zone = new Instance(stack, plan, store, handler)) {
      double rate = Instance.measure(records, List.of(zone), Instance::completed).perSecond();
      double ideal = 1 / (each.toNanos() / 1e9);
      table.add(
          "records on one resource, 20 ms handlers, memory store",
          "%,.1f records/s".formatted(rate),
          "one handler after the other %,.1f records/s".formatted(ideal),
          "%.0f %%".formatted(100 * rate / ideal),
          "≥ 50 %",
          rate / ideal >= 0.5);
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

  /**
   * Heap for each record in flight, beyond its payload, once the engine is warm: half of it is the
   * stack of its thread, whose frames are smaller when they are compiled.
   */
  private void heap() throws Exception {
    double cold = heapOfEach();
    var _ = memoryEngine(stack.topicOf(400_000, 100), 400_000, Instance.outcomes(stack));
    double warm = heapOfEach();
    table.add(
        "heap a record in flight, 10,000 in flight",
        "%.1f KB".formatted(warm / 1024),
        "before the JIT compiler has been at work %.1f KB".formatted(cold / 1024),
        "",
        "≤ 6 KB",
        warm <= 6 * 1024);
  }

  private double heapOfEach() throws Exception {
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
      return each;
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
  private void start(DynamoDb dynamoDb) throws Exception {
    startRow("start of the packaged service to its first claim", dynamoDb, List.of());
    Path cache = LOGS.resolve("processor.aot");
    var _ = start(dynamoDb, List.of("-XX:AOTCacheOutput=" + cache)); // written when it ends
    startRow(
        "the same with an AOT cache of a start before",
        dynamoDb,
        List.of("-XX:AOTCache=" + cache, "-XX:AOTMode=on"));
  }

  private void startRow(String what, DynamoDb dynamoDb, List<String> jvmArgs) throws Exception {
    List<Duration> times = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      times.add(start(dynamoDb, jvmArgs));
    }
    times.sort(null);
    double median = times.get(1).toNanos() / 1e9;
    table.add(
        what,
        "%.1f s".formatted(median),
        "median of %d".formatted(times.size()),
        "",
        "≤ 3 s",
        median <= 3);
  }

  private Duration start(DynamoDb dynamoDb, List<String> jvmArgs) throws Exception {
    String topic = stack.topicOf(1, 100);
    try (FaultProxy proxy = FaultProxy.start(dynamoDb.endpoint())) {
      Map<String, String> settings =
          Map.ofEntries(
              Map.entry("FIRSTCLAIM_ZONE", "a"),
              Map.entry("FIRSTCLAIM_INPUT_TOPICS", topic),
              Map.entry("FIRSTCLAIM_INPUT_RECORD_ID", "key"),
              Map.entry("FIRSTCLAIM_HANDLER_TYPE", "log"),
              Map.entry("FIRSTCLAIM_CLAIM_DYNAMODB_TABLE", dynamoDb.newPlace()),
              Map.entry("KAFKA_BOOTSTRAP_SERVERS", stack.bootstrapServers()),
              Map.entry("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint().toString()),
              Map.entry("AWS_REGION", "us-east-1"),
              Map.entry("AWS_ACCESS_KEY_ID", "local"),
              Map.entry("AWS_SECRET_ACCESS_KEY", "local"),
              Map.entry("MICRONAUT_SERVER_PORT", Integer.toString(FreePort.next())));
      JvmCommand command =
          JvmCommand.ofJar("service", Path.of(System.getProperty("processor.jar")))
              .withJvmArgs(jvmArgs)
              .withEnv(settings);
      Files.createDirectories(LOGS);
      long begin = System.nanoTime();
      try (ChildJvm service = ChildJvm.start(command, LOGS.resolve("service.log"))) {
        service.awaitReady(
            "the first claim", () -> proxy.requests("UpdateItem") > 0, Duration.ofMinutes(1));
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        service.terminate();
        if (!service.waitFor(Duration.ofMinutes(1)) || service.exitCode() != 0) {
          throw new IllegalStateException("It did not stop in good order: " + service.logTail());
        }
        return took;
      }
    }
  }
}
