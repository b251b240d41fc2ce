package io.firstclaim.bench;

import io.firstclaim.bench.Peer.Kind;
import io.firstclaim.bench.Peer.Work;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Today's code against the code at a commit: the same benches in two processes, one with the jars
 * of each, in turn, round by round. Ratios are of one round, as the machine's speed changes.
 */
final class BeforeBench {
  private static final int WARM_UP = 5;
  private static final int ROUNDS = 7;
  private static final Path LOGS = Path.of("target", "bench").toAbsolutePath();

  private final Stack stack;
  private final CodeBefore before;
  private final Table table;

  BeforeBench(Stack stack, CodeBefore before, Table table) {
    this.stack = stack;
    this.before = before;
    this.table = table;
  }

  /** The figures of one round: the code before, and today's. */
  private record Round(Figure now, Figure then) {
    double ratio(ToDoubleFunction<Figure> what) {
      return what.applyAsDouble(now) / what.applyAsDouble(then);
    }
  }

  /** The engine with the store in memory. */
  void engine() throws Exception {
    URI none = URI.create("http://127.0.0.1:9");
    compare(Kind.MEMORY_ANNOUNCED, none, 200_000, () -> "none");
    compare(Kind.MEMORY, none, 200_000, () -> "none");
  }

  /** Two writes a record. */
  void writes(DynamoDb dynamoDb) throws Exception {
    compare(Kind.FIRSTCLAIM, dynamoDb.endpoint(), 6_000, dynamoDb::newPlace);
  }

  /** Two writes a record. */
  void writes(S3 s3) throws Exception {
    compare(Kind.FIRSTCLAIM_ON_S3, s3.endpoint(), 10_000, s3::newPlace);
  }

  private void compare(Kind kind, URI endpoint, int records, Supplier<String> places)
      throws Exception {
    List<Round> rounds = new ArrayList<>();
    String servers = stack.bootstrapServers();
    try (PeerProcess then =
            new PeerProcess(
                kind, before.classPath(), servers, endpoint, LOGS.resolve("before.log"));
        PeerProcess now = new PeerProcess(kind, servers, endpoint, LOGS.resolve("now.log"))) {
      for (int n = 0; n < WARM_UP + ROUNDS; n++) {
        Round round = // who is first in one round is second in the next
            n % 2 == 0
                ? new Round(run(now, kind, records, places), run(then, kind, records, places))
                : reversed(run(then, kind, records, places), run(now, kind, records, places));
        System.out.printf(
            "  round %d, %s: now %s; before %s%n", n, kind.title, round.now, round.then);
        if (n >= WARM_UP) {
          rounds.add(round);
        }
      }
    } catch (IllegalStateException | IOException e) {
      table.add(kind.title, "cannot be compared", "at %.8s: %s".formatted(before.commit(), e), "");
      return;
    }
    row(kind, rounds);
  }

  private static Round reversed(Figure then, Figure now) {
    return new Round(now, then);
  }

  private Figure run(PeerProcess process, Kind kind, int records, Supplier<String> places)
      throws IOException {
    String topic = stack.topicOf(records, 100);
    int atOnce = kind.atOnce().getFirst();
    return process.run(new Work(records, atOnce, topic, stack.topic("outcomes"), places.get()));
  }

  private void row(Kind kind, List<Round> rounds) {
    double rate = Median.of(rounds, round -> round.ratio(Figure::perSecond));
    double cpu = Median.of(rounds, round -> round.ratio(Figure::cpuMicros));
    table.add(
        kind.title,
        "%,.0f records/s, %.1f µs"
            .formatted(
                Median.of(rounds, round -> round.now.perSecond()),
                Median.of(rounds, round -> round.now.cpuMicros())),
        "at %.8s %,.0f records/s, %.1f µs"
            .formatted(
                before.commit(),
                Median.of(rounds, round -> round.then.perSecond()),
                Median.of(rounds, round -> round.then.cpuMicros())),
        "%.0f %%, %.2f × the CPU time, %d pairs".formatted(100 * rate, cpu, rounds.size()),
        "no worse",
        rate >= 0.98 && cpu <= 1.02);
  }
}
