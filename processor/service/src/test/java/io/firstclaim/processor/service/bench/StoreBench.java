package io.firstclaim.processor.service.bench;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.processor.audit.Audit;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.audit.api.AuditState;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.processor.service.bench.Backend.Session;
import io.firstclaim.processor.service.bench.Instance.Plan;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** What is measured on every kind of lock store. */
final class StoreBench {
  /** Rounds of the two that are compared, in turn, as the machine's speed changes. */
  private static final int ROUNDS = 5;

  /** Rounds before them, for the JIT compiler. */
  private static final int WARM_UP = 12;

  private static final int NAIVE_RECORDS = 300;
  private static final Duration OUTAGE = Duration.ofSeconds(10);
  private static final int AT_ONCE_WITH_LATENCY = 128;

  /**
   * What is to be reached.
   *
   * @param records of a round, so many that it takes some seconds
   * @param latency added to each request, against the naive loop
   * @param overNaive times its rate
   * @param racing most requests a record of two zones
   * @param affine the same with affinity
   */
  record Targets(int records, Duration latency, double overNaive, double racing, double affine) {
    static final Targets OF_DYNAMODB = new Targets(10_000, Duration.ofMillis(5), 20, 2.6, 2.1);

    /** A loser pays a refused write and a read. */
    static final Targets OF_S3 = new Targets(20_000, Duration.ofMillis(25), 60, 4, 2.2);
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

  /** Two writes a record, against the bare SDK doing the same at its best concurrency. */
  void writes() throws Exception {
    List<Figure> bare = new ArrayList<>();
    List<Figure> own = new ArrayList<>();
    int best = bestConcurrency();
    for (int round = 0; round < WARM_UP + ROUNDS; round++) {
      Figure engine = engine(targets.records, backend.endpoint());
      Figure sdk = bare(best);
      System.out.printf("  round %d: %s; bare SDK %s%n", round, engine, sdk);
      if (round >= WARM_UP) {
        own.add(engine);
        bare.add(sdk);
      }
    }
    double rate = median(own, Figure::perSecond);
    double bareRate = median(bare, Figure::perSecond);
    table.add(
        "two writes a record on " + backend.name(),
        "%,.0f records/s".formatted(rate),
        "bare SDK %,.0f records/s".formatted(bareRate),
        "%.0f %%".formatted(100 * rate / bareRate),
        "≥ 85 %",
        rate >= 0.85 * bareRate);
    double cpu = median(own, Figure::cpuMicros);
    double bareCpu = median(bare, Figure::cpuMicros);
    table.add(
        "CPU time a record of that run",
        "%.0f µs".formatted(cpu),
        "bare SDK %.0f µs".formatted(bareCpu),
        "%.2f".formatted(cpu / bareCpu),
        "≤ 1.15",
        cpu <= 1.15 * bareCpu);
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

  private static double median(List<Figure> figures, ToDoubleFunction<Figure> of) {
    return figures.stream().mapToDouble(of).sorted().skip(figures.size() / 2).findFirst().orElse(0);
  }

  private Figure engine(int records, URI endpoint) throws Exception {
    Plan plan = Plan.of(stack.topicOf(records, 100), Instance.outcomes(stack));
    try (Session session = backend.open(endpoint, backend.newPlace());
        Instance zone = new Instance(stack, plan, session.store(plan), _ -> HandlerResult.done())) {
      return Instance.measure(records, List.of(zone), Instance::completed);
    }
  }

  /** What the audit costs that runs beside the engine: with it against without, pair by pair. */
  void audit() throws Exception {
    List<Double> rates = new ArrayList<>();
    List<Double> cpu = new ArrayList<>();
    for (int round = 0; round < WARM_UP + ROUNDS; round++) {
      Figure off = engine(targets.records, backend.endpoint());
      Figure on = audited();
      System.out.printf("  round %d: audit on %s; off %s%n", round, on, off);
      if (round >= WARM_UP) {
        rates.add(on.perSecond() / off.perSecond());
        cpu.add(on.cpuMicros() / off.cpuMicros());
      }
    }
    double rate = median(rates);
    table.add(
        "two writes a record on %s, audit on".formatted(backend.name()),
        "CPU time a record × %.2f".formatted(median(cpu)),
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

  private static double median(List<Double> ratios) {
    return ratios.stream().sorted().skip(ratios.size() / 2).findFirst().orElse(0.0);
  }

  /** With latency added to each request, against the naive loop; and how far the SDK would get. */
  void latency() throws Exception {
    try (FaultProxy proxy = FaultProxy.start(backend.endpoint())) {
      var _ = engine(targets.records, proxy.endpoint()); // warms all sides up
      proxy.latency(targets.latency());
      double naive = naive(proxy.endpoint()).perSecond();
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
    double median = median(ratios);
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

  /** Claim, handle, complete, one after the other, as the articles do. */
  private Figure naive(URI endpoint) {
    try (Session session = backend.open(endpoint, backend.newPlace())) {
      ClaimStore store = session.store(Plan.of("", Optional.empty()));
      TimeSource time = TimeSource.system();
      Figure.Start start = Figure.start();
      for (int i = 0; i < NAIVE_RECORDS; i++) {
        Claim claim = Claim.of(RecordId.of("naive-" + i), Fingerprint.none(), time.now());
        if (store.claim(claim) instanceof ClaimResult.Granted granted) {
          var _ = store.complete(granted.lease(), null);
        }
      }
      return start.end(NAIVE_RECORDS);
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
          "3.0 ± 0.1",
          Math.abs(each - 3) <= 0.1);
    }
  }

  private void requests(String how, List<String> zones, double most) throws Exception {
    int records = 6_000;
    String topic = stack.topicOf(records, 100);
    Optional<String> outcomes = Instance.outcomes(stack);
    String place = backend.newPlace();
    RecordHandler handler =
        _ -> {
          Thread.sleep(2);
          return HandlerResult.done();
        };
    Plan a = Plan.of(topic, outcomes).zone("a", zones);
    Plan b = Plan.of(topic, outcomes).zone("b", zones);
    try (FaultProxy proxy = FaultProxy.start(backend.endpoint());
        Session sessionA = backend.open(proxy.endpoint(), place);
        Session sessionB = backend.open(proxy.endpoint(), place);
        Instance zoneA = new Instance(stack, a, sessionA.store(a), handler);
        Instance zoneB = new Instance(stack, b, sessionB.store(b), handler)) {
      var _ =
          Instance.measure(
              2L * records, List.of(zoneA, zoneB), zone -> zone.completed() + zone.duplicates());
      double each = (double) proxy.requests() / records;
      table.add(
          "requests a record to %s, two zones, %s".formatted(backend.name(), how),
          "%.2f".formatted(each),
          "%s; %d records by a, %d by b"
              .formatted(proxy.requestsByOperation(), zoneA.completed(), zoneB.completed()),
          "",
          "≤ " + most,
          each <= most);
    }
  }
}
