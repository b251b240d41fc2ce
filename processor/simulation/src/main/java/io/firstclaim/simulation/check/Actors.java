package io.firstclaim.simulation.check;

import io.firstclaim.simulation.check.ClaimItem.State;
import io.firstclaim.simulation.check.Event.Asks;
import io.firstclaim.simulation.check.Event.Disturbed;
import io.firstclaim.simulation.check.Event.ToldHeld;
import io.firstclaim.simulation.check.Event.Used;
import io.firstclaim.simulation.check.Event.Wrote;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The invariants of those who use the store beside the engines, and of what engines do with more
 * than one claim.
 */
final class Actors {
  private Actors() {}

  /**
   * All of these checks.
   *
   * @param kept how long the end of an ID is remembered
   * @param storeSkew what the clocks of the store's own machines differ by
   */
  static List<Check> all(Function<String, Duration> kept, Duration storeSkew) {
    return List.of(
        new HeldWhileTold(7, false),
        new HeldWhileTold(28, true),
        new GrantedUses(),
        new OneCompletion(),
        new KeptForItsRetention(kept, storeSkew),
        new SpacesOfTheirOwn(),
        new FreedByItsRedrive());
  }

  private record Hold(String machine, String id, long token) {}

  /**
   * Whoever is told that it still holds something did hold it, in the store, when it began to ask:
   * a lease counts from before its request was sent (7), and no clock that was set, and no
   * standstill, makes it longer (28). An operator may have freed it.
   */
  static final class HeldWhileTold implements Check {
    private final int number;
    private final boolean whenDisturbed;
    private final Map<String, ClaimItem> stored = new HashMap<>();
    private final Map<String, Long> freedByOperator = new HashMap<>();
    private final Map<Hold, String> asked = new HashMap<>();
    private final Set<String> disturbed = new HashSet<>();

    HeldWhileTold(int number, boolean whenDisturbed) {
      this.number = number;
      this.whenDisturbed = whenDisturbed;
    }

    @Override
    public int invariant() {
      return number;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Wrote wrote -> {
          stored.put(wrote.after().id(), wrote.after());
          if (wrote.isReleaseByOperator()) {
            freedByOperator.put(wrote.after().id(), wrote.after().token());
          }
        }
        case Disturbed(Instant _, String machine) -> disturbed.add(machine);
        case Asks(Instant _, String machine, String id, long token) ->
            asked.put(new Hold(machine, id, token), inTheStore(id, token));
        case ToldHeld(Instant at, String machine, String id, long token) -> {
          String found = asked.getOrDefault(new Hold(machine, id, token), "");
          if (!found.isEmpty() && disturbed.contains(machine) == whenDisturbed) {
            violations.tell(
                "%s was told at %s that it holds %s with token %d, and when it asked there was %s"
                    .formatted(machine, at, id, token, found));
          }
        }
        default -> {}
      }
    }

    /** Empty if it is held under this token, or was and an operator freed it. */
    private String inTheStore(String id, long token) {
      ClaimItem item = stored.get(id);
      boolean isHeld = item != null && item.state() == State.HELD && item.token() == token;
      return isHeld || Long.valueOf(token).equals(freedByOperator.get(id))
          ? ""
          : String.valueOf(item);
    }
  }

  /** Nobody uses a resource or a mutex but under a token that he was granted himself. */
  static final class GrantedUses implements Check {
    private final Map<String, String> granted = new HashMap<>();

    @Override
    public int invariant() {
      return 1;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Wrote wrote when wrote.isGrant() ->
            granted.put(wrote.after().id() + "#" + wrote.after().token(), wrote.machine());
        case Used(Instant _, String machine, String id, long token) -> {
          String holder = granted.get(id + "#" + token);
          if (!machine.equals(holder)) {
            violations.tell(
                "%s uses %s with token %d, which was granted to %s"
                    .formatted(machine, id, token, holder));
          }
        }
        default -> {}
      }
    }
  }

  /** Whatever is delivered again, and whatever offsets are reset, an ID is completed once. */
  static final class OneCompletion implements Check {
    private final Map<String, String> completed = new HashMap<>();

    @Override
    public int invariant() {
      return 13;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (event instanceof Wrote wrote && wrote.after().state() == State.ABSENT) {
        completed.remove(wrote.after().id());
      } else if (event instanceof Wrote wrote && wrote.after().state() == State.DONE) {
        String first = completed.putIfAbsent(wrote.after().id(), wrote.machine());
        if (first != null) {
          violations.tell(
              "%s was completed by %s and by %s"
                  .formatted(wrote.after().id(), first, wrote.machine()));
        }
      }
    }
  }

  /**
   * No claim is deleted before its own retention is over, by the clocks of the store, whoever else
   * keeps claims there.
   */
  static final class KeptForItsRetention implements Check {
    private final Function<String, Duration> kept;
    private final Duration storeSkew;
    private final Map<String, Instant> written = new HashMap<>();

    KeptForItsRetention(Function<String, Duration> kept, Duration storeSkew) {
      this.kept = kept;
      this.storeSkew = storeSkew;
    }

    @Override
    public int invariant() {
      return 30;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (event instanceof Wrote wrote && wrote.after().state() == State.ABSENT) {
        String id = wrote.after().id();
        Instant due = written.getOrDefault(id, Instant.EPOCH).plus(kept.apply(id));
        // A sweeper takes what is not finished before it deletes it: that is its own write.
        boolean isTaken = wrote.before().holder().startsWith("sweeper");
        if (!isTaken && wrote.at().isBefore(due.minus(storeSkew))) {
          violations.tell(
              "%s deleted %s, %s, at %s, which was to be kept until %s"
                  .formatted(wrote.machine(), id, wrote.before().state(), wrote.at(), due));
        }
      } else if (event instanceof Wrote wrote && !wrote.after().holder().startsWith("sweeper")) {
        written.put(wrote.after().id(), wrote.at());
      }
    }
  }

  /** Records, mutexes, resources and redrives of one name are different things in the store. */
  static final class SpacesOfTheirOwn implements Check {
    private final Map<String, String> ids = new HashMap<>();

    @Override
    public int invariant() {
      return 39;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (event instanceof Wrote wrote) {
        String id = wrote.after().id();
        String first = ids.putIfAbsent(wrote.after().key(), id);
        if ((first != null && !first.equals(id)) || !wrote.before().id().equals(id)) {
          violations.tell(
              "%s is %s and %s, which was %s"
                  .formatted(wrote.after().key(), id, first, wrote.before().id()));
        }
      }
    }
  }

  /** Only an operator frees what is dead, and a redrive frees each record once. */
  static final class FreedByItsRedrive implements Check {
    private final Set<String> freed = new HashSet<>();

    @Override
    public int invariant() {
      return 43;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (!(event instanceof Wrote wrote)) {
        return;
      }
      if (wrote.isRedrive()) {
        boolean mayBeFreed =
            wrote.before().state() == State.DEAD || wrote.before().state() == State.FREE;
        String what = Safety.redriven(wrote.after().id(), wrote.after().redrive());
        if (!mayBeFreed || !freed.add(what)) {
          violations.tell(
              "%s freed %s, which was %s".formatted(wrote.machine(), what, wrote.before().state()));
        }
      } else if (wrote.before().state() == State.DEAD && wrote.after().state() != State.ABSENT) {
        violations.tell(
            "%s made %s of %s, which was dead"
                .formatted(wrote.machine(), wrote.after().state(), wrote.after().id()));
      }
    }
  }
}
