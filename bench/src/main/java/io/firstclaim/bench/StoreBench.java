package io.firstclaim.bench;

import io.firstclaim.bench.Backend.Session;
import io.firstclaim.bench.Instance.Plan;
import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.audit.api.AuditState;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.BiFunction;
import java.util.function.Function;

/** What is measured on every kind of lock store. */
final class StoreBench {
  /** Rounds of the two that are compared, in turn, as the machine's speed changes. */
  private static final int ROUNDS = 5;

  private static final int IDLE_RECORDS = 4_000;
  private static final int IN_MEMORY_RECORDS = 200_000;
  private static final int NAIVE_RECORDS = 300;
  private static final Duration OUTAGE = Duration.ofSeconds(10);
  private static final int AT_ONCE_WITH_LATENCY = 256;
  private static final int BATCHES_AT_ONCE = 16;

  /** The targets of a run in which nothing is to be reached. */
  private static final OptionalDouble PUBLISHED = OptionalDouble.empty();

  /**
   * What is to be reached.
   *
   * @param records of a round, so many that it takes some seconds
   * @param latency added to each request, against the naive loop
   * @param overNaive times its rate
   * @param racing most requests a record of two zones
   * @param affine the same with affinity
   * @param renewed the same of one zone, each renewed once
   * @param rate of the bare SDK's
   * @param cpu of the bare SDK's
   * @param warmUp rounds before those that count, for the JIT compiler
   */
  record Targets(
      int records,
      Duration latency,
      double overNaive,
      double racing,
      double affine,
      double renewed,
      double rate,
      double cpu,
      int warmUp) {
    static final Targets OF_DYNAMODB =
        new Targets(10_000, Duration.ofMillis(5), 20, 2.6, 0.2, 1, 1, 0.4, 5);

    /** A loser pays a refused write and a read. */
    static final Targets OF_S3 =
        new Targets(10_000, Duration.ofMillis(25), 60, 4, 2.2, 3.1, 0.85, 1.15, 12);
  }

  private final Stack stack;
  private final Backend backend;
  private final Targets targets;
  private final Table table;

  StoreBench(Stack stack, Backend backend, Targets targets, Table table) {
    this.stack = stack;
    this.backend = backend;
    this.targets = targets;
    this.table = table;
  }

  /** One round of all that are compared, one after the other. */
  private record Round(
      Figure own,
      Figure bare,
      Optional<Figure> zone,
      Optional<Figure> singly,
      Optional<Figure> batches) {
    Round(Figure own, Figure bare) {
      this(own, bare, Optional.empty(), Optional.empty(), Optional.empty());
    }

    Figure ofZone() {
      return zone.orElseThrow();
    }

    Figure ofSingly() {
      return singly.orElseThrow();
    }

    Figure ofBatches() {
      return batches.orElseThrow();
    }
  }

  /**
   * Two writes a record, against the bare SDK doing the same at its best concurrency, and in
   * requests as large as the store takes. Ratios are of one round, as the machine's speed changes.
   */
  void writes() throws Exception {
    List<Round> rounds = new ArrayList<>();
    int best = bestConcurrency();
    for (int n = 0; n < targets.warmUp + ROUNDS; n++) {
      Round round =
          new Round(
              engine(targets.records, backend.endpoint(), Session::store),
              bare(best),
              Optional.of(bareZone(best)),
              backend.joinsWrites()
                  ? Optional.of(engine(targets.records, backend.endpoint(), Session::singly))
                  : Optional.empty(),
              bareBatches());
      System.out.printf(
          "  round %d: %s; bare SDK %s; bare zone %s; singly %s; in batches %s%n",
          n,
          round.own,
          round.bare,
          round.ofZone(),
          round.singly.map(Figure::toString).orElse("none"),
          round.batches.map(Figure::toString).orElse("none"));
      if (n >= targets.warmUp) {
        rounds.add(round);
      }
    }
    OptionalDouble rate = OptionalDouble.of(targets.rate());
    OptionalDouble cpu = OptionalDouble.of(targets.cpu());
    writesRow("two writes a record on " + backend.name(), rounds, Round::own, rate);
    cpuRow("CPU time a record of that run", rounds, Round::own, cpu);
    zoneRow(rounds);
    if (rounds.getFirst().batches.isPresent()) {
      writesRow("the same, each write in a request of its own", rounds, Round::ofSingly, PUBLISHED);
      cpuRow("CPU time a record of that run", rounds, Round::ofSingly, PUBLISHED);
      batchesRow(rounds);
    }
  }

  private void writesRow(
      String what, List<Round> rounds, Function<Round, Figure> side, OptionalDouble least) {
    double ratio =
        Median.of(rounds, round -> side.apply(round).perSecond() / round.bare.perSecond());
    table.add(
        what,
        "%,.0f records/s".formatted(Median.of(rounds, round -> side.apply(round).perSecond())),
        "bare SDK %,.0f records/s".formatted(Median.of(rounds, round -> round.bare.perSecond())),
        "%.0f %%".formatted(100 * ratio),
        least.isEmpty() ? "" : "≥ %.0f %%".formatted(100 * least.getAsDouble()),
        ratio >= least.orElse(0));
  }

  private void cpuRow(
      String what, List<Round> rounds, Function<Round, Figure> side, OptionalDouble most) {
    double ratio =
        Median.of(rounds, round -> side.apply(round).cpuMicros() / round.bare.cpuMicros());
    table.add(
        what,
        "%.0f µs".formatted(Median.of(rounds, round -> side.apply(round).cpuMicros())),
        "bare SDK %.0f µs".formatted(Median.of(rounds, round -> round.bare.cpuMicros())),
        "%.2f".formatted(ratio),
        most.isEmpty() ? "" : "≤ %.2f".formatted(most.getAsDouble()),
        ratio <= most.orElse(ratio));
  }

  private void batchesRow(List<Round> rounds) {
    double ratio =
        Median.of(rounds, round -> round.own.perSecond() / round.ofBatches().perSecond());
    table.add(
        "two writes a record, against the bare SDK with batches of 25",
        "%,.0f records/s".formatted(Median.of(rounds, round -> round.own.perSecond())),
        "%,.0f records/s, %.0f µs"
            .formatted(
                Median.of(rounds, round -> round.ofBatches().perSecond()),
                Median.of(rounds, round -> round.ofBatches().cpuMicros())),
        "%.0f %%".formatted(100 * ratio),
        "≥ 90 %",
        ratio >= 0.9);
  }

  /** Against the same work by nothing but the SDK, a consumer and a producer, in one process. */
  private void zoneRow(List<Round> rounds) {
    double rate = Median.of(rounds, round -> round.own.perSecond() / round.ofZone().perSecond());
    double cpu = Median.of(rounds, round -> round.own.cpuMicros() / round.ofZone().cpuMicros());
    table.add(
        "two writes a record on %s, against bare SDK, consumer and producer"
            .formatted(backend.name()),
        "%,.0f records/s, %.0f µs"
            .formatted(
                Median.of(rounds, round -> round.own.perSecond()),
                Median.of(rounds, round -> round.own.cpuMicros())),
        "%,.0f records/s, %.0f µs"
            .formatted(
                Median.of(rounds, round -> round.ofZone().perSecond()),
                Median.of(rounds, round -> round.ofZone().cpuMicros())),
        "%.0f %%, %.2f × the CPU time".formatted(100 * rate, cpu),
        "≥ 90 %, ≤ 1.15 ×",
        rate >= 0.9 && cpu <= 1.15);
  }

  private Figure bareZone(int atOnce) throws Exception {
    try (Session session = backend.open(backend.endpoint(), backend.newPlace())) {
      return BareZone.run(stack, targets.records, atOnce, session::writeTwice);
    }
  }

  private Optional<Figure> bareBatches() throws Exception {
    try (Session session = backend.open(backend.endpoint(), backend.newPlace())) {
      return session.batches(targets.records, BATCHES_AT_ONCE);
    }
  }

  /**
   * What the engine does beside asking the store: its CPU time with a store in memory, outcomes
   * published and read, against that of the bare SDK's two writes in requests of their own. As fast
   * as it can, and at the pace of DynamoDB Local, where fewer records share a cycle of Kafka's.
   */
  void ownPart() throws Exception {
    List<Round> fast = new ArrayList<>();
    List<Round> paced = new ArrayList<>();
    int best = bestConcurrency();
    var _ = inMemory(IN_MEMORY_RECORDS, 1000, Duration.ZERO); // the SDK is warm by now
    for (int n = 0; n < ROUNDS; n++) {
      Figure own = inMemory(IN_MEMORY_RECORDS, 1000, Duration.ZERO);
      Figure slowly = inMemory(targets.records, 26, Duration.ofMillis(20));
      Figure bare = bare(best);
      System.out.printf(
          "  round %d: memory store %s; paced %s; bare SDK %s%n", n, own, slowly, bare);
      fast.add(new Round(own, bare));
      paced.add(new Round(slowly, bare));
    }
    String what = "CPU time a record of the engine, memory store, outcomes published and read";
    cpuRow(what, fast, Round::own, OptionalDouble.of(0.1));
    cpuRow(
        "the same at %,.0f records/s".formatted(Median.of(paced, round -> round.own.perSecond())),
        paced,
        Round::own,
        PUBLISHED);
  }

  private Figure inMemory(int records, int inFlight, Duration work) throws Exception {
    Plan plan = Plan.of(stack.topicOf(records, 100), Instance.outcomes(stack)).inFlight(inFlight);
    ClaimStore store = new MemoryClaimStore(plan.store(), TimeSource.system());
    RecordHandler handler =
        _ -> {
          TimeSource.system().sleep(work);
          return HandlerResult.done();
        };
    try (Instance zone = new Instance(stack, plan, store, handler)) {
      return Instance.measure(records, List.of(zone), Instance::completed);
    }
  }

  /** Claims and completions one after the other, in common requests if there were any, and not. */
  void idle() throws Exception {
    Plan plan = Plan.of("", Optional.empty());
    try (Session session = backend.open(backend.endpoint(), backend.newPlace())) {
      ClaimStore own = session.store(plan);
      ClaimStore single = session.singly(plan);
      List<Double> ofOwn = new ArrayList<>();
      List<Double> ofSingle = new ArrayList<>();
      for (int i = 0; i < IDLE_RECORDS; i++) {
        double first = once(own, "own-" + i);
        double second = once(single, "single-" + i);
        if (i >= IDLE_RECORDS / 2) {
          ofOwn.add(first);
          ofSingle.add(second);
        }
      }
      idleRow("p50", 0.5, ofOwn, ofSingle, 1.1);
      idleRow("p99", 0.99, ofOwn, ofSingle, 1.5);
    }
  }

  private void idleRow(
      String name, double share, List<Double> own, List<Double> single, double most) {
    double ownMillis = quantile(own, share);
    double singleMillis = quantile(single, share);
    table.add(
        "one record on an idle store, claim to completion, " + name,
        "%.2f ms".formatted(ownMillis),
        "each write in a request of its own %.2f ms".formatted(singleMillis),
        "%.2f".formatted(ownMillis / singleMillis),
        "≤ " + most,
        ownMillis <= most * singleMillis);
  }

  private static double quantile(List<Double> values, double share) {
    return values.stream().sorted().skip((long) (values.size() * share)).findFirst().orElse(0.0);
  }

  /** Returns how many milliseconds this takes. */
  private static double once(ClaimStore store, String id) {
    TimeSource time = TimeSource.system();
    long start = System.nanoTime();
    Claim claim = Claim.of(RecordId.of(id), Fingerprint.none(), time.now());
    if (store.claim(claim) instanceof ClaimResult.Granted granted) {
      var _ = store.complete(granted.lease(), null);
    }
    return (System.nanoTime() - start) / 1e6;
  }

  private int bestConcurrency() throws Exception {
    var _ = bare(32); // warms both sides up
    int best = 0;
    double most = 0;
    for (int atOnce : new int[] {16, 32, 64, 96}) {
      Figure sdk = bare(atOnce);
      System.out.printf("  bare SDK, %d at once: %s%n", atOnce, sdk);
      if (sdk.perSecond() > most) {
        most = sdk.perSecond();
        best = atOnce;
      }
    }
    return best;
  }

  private Figure bare(int atOnce) throws Exception {
    return bare(backend.endpoint(), atOnce);
  }

  private Figure bare(URI endpoint, int atOnce) throws Exception {
    try (Session session = backend.open(endpoint, backend.newPlace())) {
      return session.bare(targets.records, atOnce);
    }
  }

  private Figure engine(int records, URI endpoint) throws Exception {
    return engine(records, endpoint, Session::store);
  }

  private Figure engine(int records, URI endpoint, BiFunction<Session, Plan, ClaimStore> store)
      throws Exception {
    Plan plan = Plan.of(stack.topicOf(records, 100), Instance.outcomes(stack));
    try (Session session = backend.open(endpoint, backend.newPlace());
        Instance zone =
            new Instance(stack, plan, store.apply(session, plan), _ -> HandlerResult.done())) {
      return Instance.measure(records, List.of(zone), Instance::completed);
    }
  }

  /** What the audit costs that runs beside the engine: with it against without, pair by pair. */
  void audit() throws Exception {
    List<Double> rates = new ArrayList<>();
    List<Double> cpu = new ArrayList<>();
    for (int round = 0; round < targets.warmUp + ROUNDS; round++) {
      Figure off = engine(targets.records, backend.endpoint());
      Figure on = audited();
      System.out.printf("  round %d: audit on %s; off %s%n", round, on, off);
      if (round >= targets.warmUp) {
        rates.add(on.perSecond() / off.perSecond());
        cpu.add(on.cpuMicros() / off.cpuMicros());
      }
    }
    double rate = Median.of(rates);
    table.add(
        "two writes a record on %s, audit on".formatted(backend.name()),
        "CPU time a record × %.2f".formatted(Median.of(cpu)),
        "audit off",
        "%.0f %%".formatted(100 * rate),
        "≥ 90 %",
        rate >= 0.9);
  }

  private Figure audited() throws Exception {
    Plan plan = Plan.of(stack.topicOf(targets.records, 100), Instance.outcomes(stack));
    Path directory = Files.createTempDirectory("firstclaim-bench-audit");
    Audit audit = new Audit(auditOf(plan, directory), TimeSource.system());
    try (Session session = backend.open(backend.endpoint(), backend.newPlace())) {
      ClaimStore store = session.store(plan);
      audit.start(store.identity());
      while (!(audit.state() instanceof AuditState.Running)) {
        Thread.sleep(25);
      }
      try (Instance zone = new Instance(stack, plan, store, _ -> HandlerResult.done())) {
        return Instance.measure(targets.records, List.of(zone), Instance::completed);
      }
    } finally {
      audit.stop(Duration.ofSeconds(10));
    }
  }

  private AuditSettings auditOf(Plan plan, Path directory) {
    String outcomes = plan.outcomes().orElseThrow();
    return new AuditSettings(
        outcomes, // one of its own each time
        plan.store().namespace(),
        plan.zone(),
        outcomes,
        AuditSettings.violationsTopicOf(outcomes),
        plan.store().retention(),
        Duration.ofMinutes(5),
        new Address("127.0.0.1", 1),
        directory,
        false,
        Map.of("bootstrap.servers", stack.bootstrapServers()));
  }

  /** With latency added to each request, against the naive loop; and how far the SDK would get. */
  void latency() throws Exception {
    try (FaultProxy proxy = FaultProxy.start(backend.endpoint());
        Session session = backend.open(proxy.endpoint(), backend.newPlace())) {
      var _ = engine(targets.records, proxy.endpoint()); // warms all sides up
      proxy.latency(targets.latency());
      double naive = session.naive(NAIVE_RECORDS).perSecond();
      double own = engine(targets.records, proxy.endpoint()).perSecond();
      double bare = bare(proxy.endpoint(), AT_ONCE_WITH_LATENCY).perSecond();
      table.add(
          "the same with %d ms added to each request".formatted(targets.latency().toMillis()),
          "%,.0f records/s".formatted(own),
          "naive loop %,.0f records/s, bare SDK %,.0f".formatted(naive, bare),
          "%.0f ×".formatted(own / naive),
          "≥ %.0f ×".formatted(targets.overNaive()),
          own / naive >= targets.overNaive());
    }
  }

  /** A backlog once the store is back after an outage, against one without an outage. */
  void drain() throws Exception {
    List<Double> ratios = new ArrayList<>();
    try (FaultProxy proxy = FaultProxy.start(backend.endpoint())) {
      var _ = engine(targets.records, proxy.endpoint()); // warms both up
      for (int round = 0; round < ROUNDS; round++) {
        double healthy = engine(targets.records, proxy.endpoint()).perSecond();
        double drained = afterAnOutage(proxy).perSecond();
        System.out.printf("  round %d: %,.0f and %,.0f records/s%n", round, drained, healthy);
        ratios.add(drained / healthy);
      }
    }
    double median = Median.of(ratios);
    table.add(
        "a backlog after an outage of %s, on %s".formatted(OUTAGE, backend.name()),
        "",
        "the same without an outage",
        "%.0f %%".formatted(100 * median),
        "≥ 80 %",
        median >= 0.8);
  }

  private Figure afterAnOutage(FaultProxy proxy) throws Exception {
    Plan plan = Plan.of(stack.topicOf(targets.records, 100), Instance.outcomes(stack));
    try (Session session = backend.open(proxy.endpoint(), backend.newPlace());
        Instance zone = new Instance(stack, plan, session.store(plan), _ -> HandlerResult.done())) {
      zone.start();
      var _ = Instance.await(1, List.of(zone), Instance::completed);
      proxy.cut();
      Thread.sleep(OUTAGE);
      long before = zone.completed();
      proxy.restore();
      Figure.Start start = Figure.start();
      return start.end(
          Instance.await(targets.records, List.of(zone), Instance::completed) - before);
    }
  }

  /** Store requests for each record with two zones, counted at the proxy. */
  void requests() throws Exception {
    requests("racing", List.of(), targets.racing());
    requests("with affinity", List.of("a", "b"), targets.affine());
    renewals();
  }

  /** Store requests for each record of one zone whose handler runs for half the lease. */
  private void renewals() throws Exception {
    int records = 500;
    Duration lease = Duration.ofSeconds(6);
    Plan plan = Plan.of(stack.topicOf(records, 100), Instance.outcomes(stack)).lease(lease);
    RecordHandler handler =
        _ -> {
          Thread.sleep(lease.dividedBy(2));
          return HandlerResult.done();
        };
    try (FaultProxy proxy = FaultProxy.start(backend.endpoint());
        Session session = backend.open(proxy.endpoint(), backend.newPlace());
        Instance zone = new Instance(stack, plan, session.store(plan), handler)) {
      var _ = Instance.measure(records, List.of(zone), Instance::completed);
      double each = (double) proxy.requests() / records;
      table.add(
          "requests a record to %s, one zone, renewed once".formatted(backend.name()),
          "%.2f".formatted(each),
          proxy.requestsByOperation().toString(),
          "",
          "≤ " + targets.renewed(),
          each <= targets.renewed());
    }
  }

  /**
   * What two zones asked of the store for each record.
   *
   * @param requests of HTTP, whatever they were for
   * @param writes that are billed; zero where nobody counts them
   * @param detail what they were for
   */
  private record Asked(double requests, double writes, String detail) {}

  private void requests(String how, List<String> zones, double most) throws Exception {
    Asked own = asked(zones, Session::store);
    Optional<Asked> alone =
        backend.joinsWrites() ? Optional.of(asked(zones, Session::singly)) : Optional.empty();
    // Which of two racing zones comes too late how often differs by a tenth between runs.
    boolean noMore =
        alone.isEmpty()
            || (own.requests <= alone.get().requests && own.writes <= 1.1 * alone.get().writes);
    table.add(
        "requests a record to %s, two zones, %s".formatted(backend.name(), how),
        "%.2f%s; %s"
            .formatted(
                own.requests,
                own.writes == 0 ? "" : ", %.2f writes billed".formatted(own.writes),
                own.detail),
        alone
            .map(
                each ->
                    "each write in a request of its own %.2f, %.2f writes billed"
                        .formatted(each.requests, each.writes))
            .orElse(""),
        alone.map(each -> "%.2f".formatted(own.requests / each.requests)).orElse(""),
        "≤ " + most + (alone.isEmpty() ? "" : " and the baseline's"),
        own.requests <= most && noMore);
  }

  private Asked asked(List<String> zones, BiFunction<Session, Plan, ClaimStore> store)
      throws Exception {
    int records = 6_000;
    String topic = stack.topicOf(records, 100);
    Optional<String> outcomes = Instance.outcomes(stack);
    String place = backend.newPlace();
    RecordHandler handler =
        _ -> {
          Thread.sleep(2);
          return HandlerResult.done();
        };
    Tally tallyA = new Tally();
    Tally tallyB = new Tally();
    Plan a = Plan.of(topic, outcomes).zone("a", zones);
    Plan b = Plan.of(topic, outcomes).zone("b", zones);
    try (FaultProxy proxy = FaultProxy.start(backend.endpoint());
        Session sessionA = backend.open(proxy.endpoint(), place, tallyA);
        Session sessionB = backend.open(proxy.endpoint(), place, tallyB);
        Instance zoneA = new Instance(stack, a, store.apply(sessionA, a), handler);
        Instance zoneB = new Instance(stack, b, store.apply(sessionB, b), handler)) {
      var _ =
          Instance.measure(
              2L * records, List.of(zoneA, zoneB), zone -> zone.completed() + zone.duplicates());
      System.out.printf("  zone a: %s%n  zone b: %s%n", tallyA, tallyB);
      return new Asked(
          (double) proxy.requests() / records,
          (double) (tallyA.writes() + tallyB.writes()) / records,
          "%s; %d records by a, %d by b"
              .formatted(proxy.requestsByOperation(), zoneA.completed(), zoneB.completed()));
    }
  }
}
