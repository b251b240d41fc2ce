package io.firstclaim.bench;

import io.firstclaim.bench.Backend.Session;
import io.firstclaim.bench.Instance.Plan;
import io.firstclaim.processor.handler.HandlerResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** What is measured on a store that is no wall, whose process has its CPU time to itself. */
final class StandInBench {
  private static final int ROUNDS = 5;
  private static final int WARM_UP = 12;

  /** Their rounds are shorter, and the server's JIT compiler is the last to be done. */
  private static final int RAW_WARM_UP = 15;

  private static final int RECORDS = 30_000;
  private static final int NAIVE_RECORDS = 300;
  private static final List<Integer> BATCHES_AT_ONCE = List.of(8, 16, 32, 64);
  private static final int IN_FLIGHT = 2_000;
  private static final Duration LATENCY = Duration.ofMillis(5);

  private final Stack stack;
  private final Table table;

  StandInBench(Stack stack, Table table) {
    this.stack = stack;
    this.table = table;
  }

  void all() throws Exception {
    try (StandInProcess server = StandInProcess.start(Duration.ZERO)) {
      DynamoDb near = DynamoDb.of(stack, server);
      capacity(server, near);
      near(near);
    }
    try (DynamoDb far = DynamoDb.standIn(stack, LATENCY)) {
      far(far);
    }
  }

  /** What the clients and the server took. */
  private record Taken(Figure clients, Duration server) {
    double serverMicros() {
      return server.toNanos() / 1e3 / clients.records();
    }

    @Override
    public String toString() {
      return "%,.0f writes/s, %.1f µs of the server's CPU time each and %.1f of the clients'"
          .formatted(clients.perSecond(), serverMicros(), clients.cpuMicros());
    }
  }

  /** How much the server takes, from clients that cost next to nothing. */
  private void capacity(StandInProcess server, DynamoDb backend) throws Exception {
    List<Taken> batched = new ArrayList<>();
    List<Taken> single = new ArrayList<>();
    for (int n = 0; n < RAW_WARM_UP + ROUNDS; n++) {
      String place = backend.newPlace();
      RawWrites raw = new RawWrites(backend.endpoint(), place);
      Taken inBatches = taken(server, raw.batches(2_000));
      Taken alone = taken(server, raw.singles(20_000));
      backend.drop(place);
      System.out.printf("  round %d: in batches %s; alone %s%n", n, inBatches, alone);
      if (n >= RAW_WARM_UP) {
        batched.add(inBatches);
        single.add(alone);
      }
    }
    double rate = Median.of(batched, each -> each.clients.perSecond());
    capacityRow(
        "writes a second that the stand-in takes, in batches of 25",
        batched,
        "≥ 50,000",
        rate >= 50_000);
    capacityRow("the same, each alone", single, "", true);
  }

  private static Taken taken(StandInProcess server, RawWrites.Made made) throws Exception {
    Duration before = server.cpu();
    Figure clients = made.send();
    return new Taken(clients, server.cpu().minus(before));
  }

  private void capacityRow(String what, List<Taken> rounds, String target, boolean met) {
    table.add(
        what,
        "%,.0f, at best %,.0f"
            .formatted(
                Median.of(rounds, each -> each.clients.perSecond()),
                rounds.stream().mapToDouble(each -> each.clients.perSecond()).max().orElseThrow()),
        "ready-made requests on 4 connections",
        "CPU time a write: the stand-in %.1f µs, the clients %.1f µs"
            .formatted(
                Median.of(rounds, Taken::serverMicros),
                Median.of(rounds, each -> each.clients.cpuMicros())),
        target,
        met);
  }

  private record Round(Figure own, Figure batches) {}

  /** Without latency: what a record costs where the store is no wall. */
  private void near(DynamoDb server) throws Exception {
    int atOnce = bestBatches(server);
    List<Round> rounds = rounds(server, atOnce);
    double cpu = Median.of(rounds, round -> round.own.cpuMicros());
    table.add(
        "two writes a record on the stand-in, no latency",
        "%,.0f records/s, %.0f µs".formatted(own(rounds), cpu),
        "batches of 25, %d at once, %s".formatted(atOnce, batches(rounds)),
        "%.0f %%".formatted(100 * ratio(rounds, Figure::perSecond)),
        "",
        true);
    table.add(
        "records a second and a core of the instance's process",
        "%,.0f".formatted(1e6 / cpu),
        "batches of 25 %,.0f"
            .formatted(1e6 / Median.of(rounds, round -> round.batches.cpuMicros())),
        "%.2f × the CPU time".formatted(ratio(rounds, Figure::cpuMicros)),
        "",
        true);
  }

  /** Far away: what counts is how much is under way. */
  private void far(DynamoDb server) throws Exception {
    int atOnce = bestBatches(server);
    List<Round> rounds = rounds(server, atOnce);
    double naive;
    try (Session session = server.open(server.endpoint(), server.newPlace())) {
      naive = session.naive(NAIVE_RECORDS).perSecond();
    }
    table.add(
        "two writes a record on the stand-in, %d ms".formatted(LATENCY.toMillis()),
        "%,.0f records/s".formatted(own(rounds)),
        "naive loop %,.0f records/s".formatted(naive),
        "%.0f ×".formatted(own(rounds) / naive),
        "≥ 50 ×",
        own(rounds) / naive >= 50);
    double ratio = ratio(rounds, Figure::perSecond);
    table.add(
        "the same",
        "%,.0f records/s, %.0f µs"
            .formatted(own(rounds), Median.of(rounds, round -> round.own.cpuMicros())),
        "batches of 25, %d at once, %s".formatted(atOnce, batches(rounds)),
        "%.0f %%".formatted(100 * ratio),
        "≥ 90 %",
        ratio >= 0.9);
  }

  private static double own(List<Round> rounds) {
    return Median.of(rounds, round -> round.own.perSecond());
  }

  private static String batches(List<Round> rounds) {
    return "%,.0f records/s, %.0f µs"
        .formatted(
            Median.of(rounds, round -> round.batches.perSecond()),
            Median.of(rounds, round -> round.batches.cpuMicros()));
  }

  private static double ratio(List<Round> rounds, ToDoubleFunction<Figure> what) {
    return Median.of(
        rounds, round -> what.applyAsDouble(round.own) / what.applyAsDouble(round.batches));
  }

  private List<Round> rounds(DynamoDb server, int atOnce) throws Exception {
    List<Round> rounds = new ArrayList<>();
    for (int n = 0; n < WARM_UP + ROUNDS; n++) {
      Round round = new Round(engine(server), batches(server, atOnce));
      System.out.printf("  round %d: %s; in batches %s%n", n, round.own, round.batches);
      if (n >= WARM_UP) {
        rounds.add(round);
      }
    }
    return rounds;
  }

  private int bestBatches(DynamoDb server) throws Exception {
    var _ = batches(server, BATCHES_AT_ONCE.getFirst()); // warms both sides up
    int best = 0;
    double most = 0;
    for (int atOnce : BATCHES_AT_ONCE) {
      Figure figure = batches(server, atOnce);
      System.out.printf("  %d batches at once: %s%n", atOnce, figure);
      if (figure.perSecond() > most) {
        most = figure.perSecond();
        best = atOnce;
      }
    }
    return best;
  }

  private Figure batches(DynamoDb server, int atOnce) throws Exception {
    String place = server.newPlace();
    try (Session session = server.open(server.endpoint(), place)) {
      return session.batches(RECORDS, atOnce).orElseThrow();
    } finally {
      server.drop(place);
    }
  }

  private Figure engine(DynamoDb server) throws Exception {
    Plan plan = Plan.of(stack.topicOf(RECORDS, 100), Instance.outcomes(stack)).inFlight(IN_FLIGHT);
    String place = server.newPlace();
    try (Session session = server.open(server.endpoint(), place);
        Instance zone = new Instance(stack, plan, session.store(plan), _ -> HandlerResult.done())) {
      return Instance.measure(RECORDS, List.of(zone), Instance::completed);
    } finally {
      server.drop(place);
    }
  }
}
