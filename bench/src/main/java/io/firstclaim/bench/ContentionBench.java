package io.firstclaim.bench;

import io.firstclaim.bench.Contention.Kind;
import io.firstclaim.bench.Contention.Seen;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One lock and many who want it: what they get, and what their waiting costs. Each run is a process
 * of its own; the code before takes turns with today's.
 */
final class ContentionBench {
  private static final int ROUNDS = 3;

  private final Optional<CodeBefore> before;
  private final Table table;

  ContentionBench(Optional<CodeBefore> before, Table table) {
    this.before = before;
    this.table = table;
  }

  private record Round(Seen now, Optional<Seen> then) {}

  void all(Backend backend) throws Exception {
    Kind kind = backend instanceof DynamoDb ? Kind.DYNAMODB : Kind.S3;
    for (int waiters : List.of(1, 10, 100)) {
      List<Round> rounds = new ArrayList<>();
      for (int n = 0; n < ROUNDS; n++) {
        Seen now = seen(System.getProperty("java.class.path"), backend, kind, waiters);
        System.out.printf("  %d want it, now: %s%n", waiters, now);
        Optional<Seen> then = Optional.empty();
        if (before.isPresent() && waiters > 1) {
          then = Optional.of(seen(before.get().classPath(), backend, kind, waiters));
          System.out.printf("  %d want it, before: %s%n", waiters, then.get());
        }
        rounds.add(new Round(now, then));
      }
      row(backend, waiters, rounds);
    }
  }

  private static Seen seen(String classPath, Backend backend, Kind kind, int waiters)
      throws Exception {
    return Contention.in(classPath, kind, backend.endpoint(), backend.newPlace(), waiters);
  }

  private void row(Backend backend, int waiters, List<Round> rounds) {
    Seen now = median(rounds.stream().map(Round::now).toList());
    String what = "a mutex that %d want, on %s".formatted(waiters, backend.name());
    if (before.isEmpty() || waiters == 1) {
      table.add(what, now.toString(), "", "");
      return;
    }
    Seen then = median(rounds.stream().flatMap(round -> round.then().stream()).toList());
    double refused =
        Median.of(rounds, round -> round.now().refused() / round.then().orElseThrow().refused());
    double late = Median.of(rounds, round -> round.now().p99() / round.then().orElseThrow().p99());
    table.add(
        what,
        now.toString(),
        "at %.8s %s".formatted(before.get().commit(), then),
        "%.2f of the refused claims, %.2f of the hand-over's p99".formatted(refused, late),
        "<= 0.10 and <= 1.00",
        refused <= 0.10 && late <= 1.00);
  }

  /** Each figure's median by itself. */
  private static Seen median(List<Seen> all) {
    return new Seen(
        Median.of(all, Seen::perSecond),
        Median.of(all, Seen::p50),
        Median.of(all, Seen::p99),
        Median.of(all, Seen::refused),
        Median.of(all, Seen::reads),
        Median.of(all, Seen::dollars));
  }
}
