package io.firstclaim.simulation.check;

import io.firstclaim.simulation.check.ClaimItem.State;
import io.firstclaim.simulation.check.Event.Began;
import io.firstclaim.simulation.check.Event.Calm;
import io.firstclaim.simulation.check.Event.Ended;
import io.firstclaim.simulation.check.Event.Killed;
import io.firstclaim.simulation.check.Event.Over;
import io.firstclaim.simulation.check.Event.Stock;
import io.firstclaim.simulation.check.Event.Wrote;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The invariants that say that something happens at last, once faults have stopped. That all is
 * settled in the end, and what is left then, is asked by the run itself.
 */
final class Liveness {
  private Liveness() {}

  /** All of these checks. */
  static List<Check> all(History.Bounds bounds) {
    return List.of(
        new SettledInTime(bounds.idle(), bounds.lease(), bounds.maxAttempts()),
        new BoundedAttempts(bounds.maxAttempts()),
        new FewCalls(bounds.calls()),
        new BoundedStock(bounds.inFlight()));
  }

  /**
   * Once it is calm, a record lies no longer than two leases, and what a group takes to see that a
   * member is gone, without a handler that runs or a retry that is waited for, until it is done or
   * dead. One that holders died of again and again is left alone for a lease by each instance that
   * takes it over for the first time, and there are four.
   */
  static final class SettledInTime implements Check {
    private final Duration most;
    private final Duration ofSuspects;
    private final int suspectAfter;
    private final Map<String, Lying> open = new HashMap<>();
    private final Map<String, Set<Run>> runs = new HashMap<>();
    private @Nullable Instant calm;

    private record Run(String machine, long token) {}

    /** A record that is not settled: since when it lies, and for how long it has. */
    private static final class Lying {
      private Instant since = Instant.EPOCH;
      private Duration before = Duration.ZERO;
      private boolean isHandled;
      private boolean isSuspect;
    }

    SettledInTime(Duration most, Duration lease, int maxAttempts) {
      this.most = most;
      // The bound of all records has one such lease in it already.
      this.ofSuspects = most.plus(lease.multipliedBy(3));
      this.suspectAfter = maxAttempts / 2;
    }

    @Override
    public int invariant() {
      return 18;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Began(Instant at, String machine, String id, long token, int _)
            when isOfARecord(id) -> {
          runs.computeIfAbsent(id, _ -> new HashSet<>()).add(new Run(machine, token));
          Lying lying = open.computeIfAbsent(id, _ -> new Lying());
          if (!lying.isHandled) {
            rest(id, lying, at, violations);
            lying.isHandled = true;
          }
        }
        case Ended(Instant at, String machine, String id, long token) ->
            ended(id, new Run(machine, token), at);
        case Killed(Instant at, String machine) ->
            runs.forEach(
                (id, all) ->
                    List.copyOf(all).stream()
                        .filter(run -> run.machine.equals(machine))
                        .forEach(run -> ended(id, run, at)));
        case Wrote wrote when isOfARecord(wrote.after().id()) -> wrote(wrote, violations);
        case Calm(Instant at, long _) -> calm = at;
        default -> {}
      }
    }

    /** Nobody has to ask for a mutex again, or for a job. */
    private static boolean isOfARecord(String id) {
      return id.indexOf('/') < 0 && id.startsWith("r");
    }

    private void ended(String id, Run run, Instant at) {
      Set<Run> all = runs.getOrDefault(id, new HashSet<>());
      Lying lying = open.get(id);
      if (all.remove(run) && all.isEmpty() && lying != null) {
        lying.isHandled = false;
        lying.since = at;
      }
    }

    private void wrote(Wrote wrote, Violations violations) {
      String id = wrote.after().id();
      Lying lying = open.computeIfAbsent(id, _ -> new Lying());
      lying.isSuspect |= wrote.isTakeover() && wrote.after().attempts() >= suspectAfter;
      if (wrote.after().isTerminal()) {
        rest(id, lying, wrote.at(), violations);
        open.remove(id);
      } else if (wrote.after().state() == State.FREE && !lying.isHandled) {
        rest(id, lying, wrote.at(), violations);
        lying.since =
            wrote.after().until().isAfter(wrote.at()) ? wrote.after().until() : wrote.at();
      } else if (lying.since.equals(Instant.EPOCH)) {
        lying.since = wrote.at();
      }
    }

    /** Adds up what it has lain until now, as far as it was calm. */
    private void rest(String id, Lying lying, Instant now, Violations violations) {
      if (calm == null || lying.isHandled) {
        return;
      }
      Instant from = lying.since.isBefore(calm) ? calm : lying.since;
      if (now.isAfter(from)) {
        lying.before = lying.before.plus(Duration.between(from, now));
      }
      if (lying.before.compareTo(lying.isSuspect ? ofSuspects : most) > 0) {
        violations.tell(
            "%s has lain for %s, after all faults had stopped, and nobody had it in hand"
                .formatted(id, lying.before));
        lying.before = Duration.ZERO;
      }
    }
  }

  /** No record is tried more often than is configured. */
  static final class BoundedAttempts implements Check {
    private final int most;

    BoundedAttempts(int most) {
      this.most = most;
    }

    @Override
    public int invariant() {
      return 19;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (event instanceof Began(Instant _, String machine, String id, long _, int attempt)
          && attempt > most) {
        violations.tell("%s handles %s for the %dth time".formatted(machine, id, attempt));
      }
    }
  }

  /** Once it is calm, a record that is settled has cost a few requests to the store. */
  static final class FewCalls implements Check {
    /** What a few records cost says little, as some were in trouble when it became calm. */
    private static final int ENOUGH = 20;

    private final int most;
    private int settled;
    private int settledBefore;
    private long callsBefore;

    FewCalls(int most) {
      this.most = most;
    }

    @Override
    public int invariant() {
      return 20;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Wrote wrote when wrote.after().isTerminal() -> settled++;
        case Calm(Instant _, long calls) -> {
          callsBefore = calls;
          settledBefore = settled;
        }
        case Over(Instant _, long calls) -> {
          int records = settled - settledBefore;
          if (records >= ENOUGH && calls - callsBefore > (long) most * records) {
            violations.tell(
                "%d requests for %d records, after all faults had stopped"
                    .formatted(calls - callsBefore, records));
          }
        }
        default -> {}
      }
    }
  }

  /** No instance has more in hand than it may. */
  static final class BoundedStock implements Check {
    private final int inFlight;

    BoundedStock(int inFlight) {
      this.inFlight = inFlight;
    }

    @Override
    public int invariant() {
      return 22;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (event instanceof Stock(Instant _, String machine, int now, long bytes)
          && (now > inFlight || now < 0 || bytes < 0)) {
        violations.tell("%s has %d in flight and %d bytes".formatted(machine, now, bytes));
      }
    }
  }
}
