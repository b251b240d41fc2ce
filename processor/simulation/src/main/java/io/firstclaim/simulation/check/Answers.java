package io.firstclaim.simulation.check;

import io.firstclaim.lock.Lease;
import io.firstclaim.simulation.check.ClaimItem.State;
import io.firstclaim.simulation.check.Event.Began;
import io.firstclaim.simulation.check.Event.Calm;
import io.firstclaim.simulation.check.Event.Ended;
import io.firstclaim.simulation.check.Event.ToldLease;
import io.firstclaim.simulation.check.Event.ToldLost;
import io.firstclaim.simulation.check.Event.ToldSettled;
import io.firstclaim.simulation.check.Event.Wrote;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What holders are told, and go by, is what the store has. */
final class Answers {
  private Answers() {}

  /**
   * All of these checks.
   *
   * @param lease the length of leases
   * @param skew what the wall clocks of machines may differ by, as declared
   * @param storeSkew what the clocks of the store's own machines differ by
   * @param handlers how long a handler may take
   */
  static List<Check> all(Duration lease, Duration skew, Duration storeSkew, Duration handlers) {
    return List.of(
        new SettledIsStored(),
        new LostIsLost(),
        new OneStepAtATime(),
        new CountedBeforeTheSend(lease),
        new WaitedOut(lease, skew, storeSkew),
        new CountedBeforeTheWork(),
        new KeptWhileHandled(handlers));
  }

  private record Grant(String id, long token) {}

  /** Who is told that its attempt is settled has settled it. */
  static final class SettledIsStored implements Check {
    private final Set<Step> taken = new HashSet<>();

    private record Step(String machine, Grant grant, State state) {}

    @Override
    public int invariant() {
      return 4;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Wrote wrote ->
            taken.add(
                new Step(
                    wrote.machine(),
                    new Grant(wrote.after().id(), wrote.after().token()),
                    wrote.after().state()));
        case ToldSettled(Instant _, String machine, String id, long token, State state) -> {
          if (!taken.contains(new Step(machine, new Grant(id, token), state))) {
            violations.tell(
                "%s was told that %s is %s by its token %d, which is not so"
                    .formatted(machine, id, state, token));
          }
        }
        default -> {}
      }
    }
  }

  /** Nobody is told that a lease is lost which he has, with all that he claimed with it. */
  static final class LostIsLost implements Check {
    private final Map<String, Wrote> last = new HashMap<>();
    private final Map<Grant, String> granted = new HashMap<>();

    @Override
    public int invariant() {
      return 6;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Wrote wrote -> {
          last.put(wrote.after().id(), wrote);
          if (wrote.isGrant()) {
            granted.put(new Grant(wrote.after().id(), wrote.after().token()), wrote.machine());
          }
        }
        case ToldLost(Instant _, String machine, String id, long token, var resources) -> {
          if (has(machine, id, token)
              && resources.entrySet().stream()
                  .allMatch(each -> has(machine, each.getKey(), each.getValue()))) {
            violations.tell(
                "%s was told that it has lost %s, which it has by token %d"
                    .formatted(machine, id, token));
          }
        }
        default -> {}
      }
    }

    private boolean has(String machine, String id, long token) {
      Wrote wrote = last.get(id);
      return wrote != null
          && wrote.after().state() == State.HELD
          && wrote.after().token() == token
          && machine.equals(granted.get(new Grant(id, token)));
    }
  }

  /**
   * A holder takes one step under its lease at a time: a renewal that crossed its end would hear of
   * that, and tell of a loss which is none.
   */
  static final class OneStepAtATime implements Check {
    private final Map<Grant, String> underWay = new HashMap<>();

    @Override
    public int invariant() {
      return 4;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Event.StepBegan(Instant _, String machine, String id, long token) -> {
          if (machine.equals(underWay.put(new Grant(id, token), machine))) {
            violations.tell(
                "%s takes two steps at once on %s under token %d".formatted(machine, id, token));
          }
        }
        case Event.StepEnded(Instant _, String machine, String id, long token) ->
            underWay.remove(new Grant(id, token), machine);
        case Event.Killed(Instant _, String machine) -> underWay.values().removeIf(machine::equals);
        default -> {}
      }
    }
  }

  /** A holder counts its lease from before the store took the write that gave it. */
  static final class CountedBeforeTheSend implements Check {
    /** The parts of a lease, of which its holder counts on all but one. */
    private static final int PARTS = 10;

    private final Duration counted;
    private final Map<Grant, Instant> taken = new HashMap<>();

    CountedBeforeTheSend(Duration lease) {
      this.counted = lease.minus(lease.dividedBy(PARTS));
    }

    @Override
    public int invariant() {
      return 7;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Wrote wrote when wrote.after().state() == State.HELD ->
            taken.put(new Grant(wrote.after().id(), wrote.after().token()), wrote.at());
        case ToldLease(Instant at, String machine, String id, long token, Duration left) -> {
          Instant from = taken.get(new Grant(id, token));
          if (from != null && at.plus(left).isAfter(from.plus(counted).plus(slack(from, at)))) {
            violations.tell(
                "%s counts on %s until %s, though the store gave it at %s"
                    .formatted(machine, id, at.plus(left), from));
          }
        }
        default -> {}
      }
    }
  }

  /** By how much a holder's clock that is slewed may show too little. */
  private static Duration slack(Instant from, Instant to) {
    return slewed(Duration.between(from, to)).plusMillis(1);
  }

  private static Duration slewed(Duration time) {
    return time.multipliedBy(Lease.SLEW_PPM).dividedBy(1_000_000);
  }

  /**
   * Whoever takes over has waited for the lease's end and the skew bound, or for six fifths of a
   * lease since its last write, by a clock that may be slewed; and nobody takes what is not due.
   */
  static final class WaitedOut implements Check {
    /** Times are stored in milliseconds, and told by machines of the store that differ. */
    private final Duration inexact;

    private final Duration watched;
    private final Duration skew;
    private final Map<String, Instant> written = new HashMap<>();

    WaitedOut(Duration lease, Duration skew, Duration storeSkew) {
      this.inexact = storeSkew.plusMillis(1);
      Duration watched = lease.multipliedBy(6).dividedBy(5);
      this.watched = watched.minus(slewed(watched));
      this.skew = skew;
    }

    @Override
    public int invariant() {
      return 8;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (!(event instanceof Wrote wrote)) {
        return;
      }
      String id = wrote.after().id();
      Instant before = written.put(id, wrote.at());
      if (wrote.isTakeover()) {
        boolean isOver = !wrote.before().until().plus(skew).isAfter(wrote.at().plus(inexact));
        boolean wasWatched = before != null && !before.plus(watched).isAfter(wrote.at());
        if (!isOver && !wasWatched) {
          violations.tell(
              "%s took %s over at %s, which %s had until %s, without the skew bound"
                  .formatted(
                      wrote.machine(),
                      id,
                      wrote.at(),
                      wrote.before().holder(),
                      wrote.before().until()));
        }
      } else if (wrote.isGrant()
          && wrote.before().state() == State.FREE
          && wrote.before().until().isAfter(wrote.at().plus(inexact))) {
        violations.tell(
            "%s claimed %s at %s, which is due at %s"
                .formatted(wrote.machine(), id, wrote.at(), wrote.before().until()));
      }
    }
  }

  /** No work begins before the store has counted its attempt. */
  static final class CountedBeforeTheWork implements Check {
    private final Map<Grant, Integer> counted = new HashMap<>();

    @Override
    public int invariant() {
      return 19;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Wrote wrote when wrote.after().state() == State.HELD ->
            counted.put(
                new Grant(wrote.after().id(), wrote.after().token()), wrote.after().attempts());
        case Began(Instant _, String machine, String id, long token, int attempt) -> {
          Integer inStore = counted.get(new Grant(id, token));
          if (inStore != null && inStore < attempt) {
            violations.tell(
                "%s begins attempt %d on %s, of which the store has counted %d"
                    .formatted(machine, attempt, id, inStore));
          }
        }
        default -> {}
      }
    }
  }

  /**
   * Once it is calm, nobody loses a lease while its handler works within its time, and nobody is
   * interrupted then but by an engine that was told to stop.
   */
  static final class KeptWhileHandled implements Check {
    private final Duration handlers;
    private final Map<Grant, Began> working = new HashMap<>();
    private final Set<String> stopping = new HashSet<>();
    private @Nullable Instant calm;

    KeptWhileHandled(Duration handlers) {
      this.handlers = handlers;
    }

    @Override
    public int invariant() {
      return 33;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Calm(Instant at, long _) -> calm = at;
        case Began began -> working.put(new Grant(began.id(), began.token()), began);
        case Ended ended -> working.remove(new Grant(ended.id(), ended.token()));
        case Event.Stops(Instant _, String machine) -> stopping.add(machine);
        case Event.Killed killed ->
            working.values().removeIf(began -> began.machine().equals(killed.machine()));
        case Event.Interrupted(Instant at, String machine, String id, long token) -> {
          if (!stopping.contains(machine) && isInItsTime(new Grant(id, token), at)) {
            violations.tell(
                "%s was interrupted at %s, and no fault was near".formatted(machine, id));
          }
        }
        case Wrote wrote when wrote.isTakeover() -> {
          if (isInItsTime(new Grant(wrote.before().id(), wrote.before().token()), wrote.at())) {
            violations.tell(
                "%s took %s over from %s, which works on it, and no fault was near"
                    .formatted(wrote.machine(), wrote.after().id(), wrote.before().holder()));
          }
        }
        default -> {}
      }
    }

    private boolean isInItsTime(Grant grant, Instant at) {
      Began began = working.get(grant);
      return began != null
          && calm != null
          && began.at().isAfter(calm)
          && began.at().plus(handlers).isAfter(at);
    }
  }
}
