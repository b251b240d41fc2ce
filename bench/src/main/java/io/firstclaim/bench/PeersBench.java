package io.firstclaim.bench;

import io.firstclaim.bench.Peer.Kind;
import io.firstclaim.bench.Peer.Work;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The engine on DynamoDB against what else one would take: the same SDK asynchronously, and
 * libraries that lock, deduplicate or spread records over threads. Each is a process of its own, at
 * the concurrency that suits it best; all have the service's HTTP client, apart from the
 * asynchronous ones. Ratios are of one round, as the machine's speed changes.
 */
final class PeersBench {
  private static final int RECORDS = 4_000;

  /** How many records a peer takes before it is measured, for the JIT compiler to be done. */
  private static final int WARM_UP = 8_000;

  private static final int TRIAL = 2_000;
  private static final int ROUNDS = 5;
  private static final Path LOGS = Path.of("target", "bench").toAbsolutePath();

  private final Stack stack;
  private final DynamoDb dynamoDb;
  private final Table table;

  PeersBench(Stack stack, DynamoDb dynamoDb, Table table) {
    this.stack = stack;
    this.dynamoDb = dynamoDb;
    this.table = table;
  }

  /** One of them, how much at once suits it best, and a figure of each round. */
  private record Side(Kind kind, PeerProcess process, int atOnce, List<Figure> figures) {
    double median(ToDoubleFunction<Figure> what) {
      return Median.of(figures, what);
    }

    /** The median of what this one has against what the other has in the same round. */
    double ratio(Side other, ToDoubleFunction<Figure> what) {
      List<Double> ratios = new ArrayList<>();
      for (int n = 0; n < figures.size(); n++) {
        ratios.add(what.applyAsDouble(figures.get(n)) / what.applyAsDouble(other.figures.get(n)));
      }
      return Median.of(ratios);
    }

    @Override
    public String toString() {
      return "%,.0f records/s, %.0f µs"
          .formatted(median(Figure::perSecond), median(Figure::cpuMicros));
    }
  }

  void compare() throws Exception {
    List<PeerProcess> processes = new ArrayList<>();
    try {
      List<Side> sides = new ArrayList<>();
      for (Kind kind : Kind.compared()) {
        Path log = LOGS.resolve("peer-%s.log".formatted(kind));
        PeerProcess process =
            new PeerProcess(kind, stack.bootstrapServers(), dynamoDb.endpoint(), log);
        processes.add(process);
        sides.add(new Side(kind, process, best(kind, process), new ArrayList<>()));
      }
      for (Side side : sides) { // it has waited for the others
        var _ = run(side.process, RECORDS, side.atOnce);
      }
      for (int round = 0; round < ROUNDS; round++) {
        for (Side side : sides) {
          Figure figure = run(side.process, RECORDS, side.atOnce);
          System.out.printf("  round %d, %s: %s%n", round, side.kind.title, figure);
          side.figures.add(figure);
        }
      }
      for (Side peer : sides.subList(1, sides.size())) {
        row(sides.getFirst(), peer);
      }
    } finally {
      for (PeerProcess process : processes) {
        process.close();
      }
    }
  }

  /** Warms it up, and tries how much at once suits it best. */
  private int best(Kind kind, PeerProcess process) throws IOException {
    var _ = run(process, WARM_UP, kind.atOnce().get(kind.atOnce().size() / 2));
    int best = 0;
    double most = 0;
    for (int candidate : kind.atOnce()) {
      Figure figure = run(process, TRIAL, candidate);
      System.out.printf("  %s, %d at once: %s%n", kind.title, candidate, figure);
      if (figure.perSecond() > most) {
        most = figure.perSecond();
        best = candidate;
      }
    }
    return best;
  }

  private Figure run(PeerProcess process, int records, int atOnce) throws IOException {
    String topic = stack.topicOf(records, 100);
    String outcomes = stack.topic("outcomes");
    return process.run(new Work(records, atOnce, topic, outcomes, dynamoDb.newPlace()));
  }

  private void row(Side own, Side peer) {
    double rate = own.ratio(peer, Figure::perSecond);
    double cpu = own.ratio(peer, Figure::cpuMicros);
    table.add(
        "two writes a record, against %s, %d at once".formatted(peer.kind.title, peer.atOnce),
        own.toString(),
        peer.toString(),
        "%.0f %%, %.2f × its CPU time".formatted(100 * rate, cpu),
        "≥ 100 %, ≤ 1.00 ×",
        rate >= 1 && cpu <= 1);
  }
}
