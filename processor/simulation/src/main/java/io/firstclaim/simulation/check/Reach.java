package io.firstclaim.simulation.check;

import io.firstclaim.simulation.check.ClaimItem.State;
import io.firstclaim.simulation.check.Event.AnswerLost;
import io.firstclaim.simulation.check.Event.Began;
import io.firstclaim.simulation.check.Event.Ended;
import io.firstclaim.simulation.check.Event.Killed;
import io.firstclaim.simulation.check.Event.Revoked;
import io.firstclaim.simulation.check.Event.Used;
import io.firstclaim.simulation.check.Event.Wrote;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Finds nothing broken, and counts what a run must reach to prove anything. */
final class Reach implements Check {
  private final Consumer<String> reached;
  private final Map<String, ClaimItem> stored = new HashMap<>();
  private final Set<String> notHeardOf = new HashSet<>();
  private final Map<String, Integer> inHand = new HashMap<>();

  Reach(Consumer<String> reached) {
    this.reached = reached;
  }

  @Override
  public int invariant() {
    return 0;
  }

  @Override
  public void see(Event event, Violations violations) {
    switch (event) {
      case Wrote wrote -> {
        stored.put(wrote.after().id(), wrote.after());
        if (wrote.isRedrive()) {
          reached.accept("redrives");
        } else if (wrote.isReleaseByOperator()) {
          reached.accept("releases by operators");
        } else if (wrote.after().state() == State.ABSENT) {
          reached.accept("swept");
        }
      }
      case AnswerLost(Instant _, String machine, ClaimItem took) when took.state() == State.HELD ->
          notHeardOf.add(grant(machine, took.id(), took.token()));
      case Began(Instant _, String machine, String id, long token, int _) -> {
        recognised(machine, id, token);
        inHand.merge(machine, 1, Integer::sum);
      }
      case Used(Instant _, String machine, String id, long token) -> {
        recognised(machine, id, token);
        reached.accept(id.startsWith("mutex/") ? "mutexes held" : "resources used");
      }
      case Ended(Instant _, String machine, String id, long token) -> {
        inHand.merge(machine, -1, Integer::sum);
        ClaimItem now = stored.get(id);
        if (now != null && now.token() != token) {
          reached.accept("zombies fenced");
        }
      }
      case Killed(Instant _, String machine) -> inHand.remove(machine);
      case Revoked(Instant _, String machine) when inHand.getOrDefault(machine, 0) > 0 ->
          reached.accept("rebalances with work in flight");
      default -> {}
    }
  }

  /** Whoever works under a grant whose answer was lost was told of it by another. */
  private void recognised(String machine, String id, long token) {
    if (notHeardOf.remove(grant(machine, id, token))) {
      reached.accept("lost answers recognised");
    }
  }

  private static String grant(String machine, String id, long token) {
    return machine + " " + id + "#" + token;
  }
}
