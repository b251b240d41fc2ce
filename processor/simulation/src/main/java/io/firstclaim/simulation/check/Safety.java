package io.firstclaim.simulation.check;

import io.firstclaim.simulation.check.ClaimItem.State;
import io.firstclaim.simulation.check.Event.Began;
import io.firstclaim.simulation.check.Event.Committed;
import io.firstclaim.simulation.check.Event.CommittedByStranger;
import io.firstclaim.simulation.check.Event.Killed;
import io.firstclaim.simulation.check.Event.Letter;
import io.firstclaim.simulation.check.Event.ToldLease;
import io.firstclaim.simulation.check.Event.Wrote;
import io.firstclaim.simulation.check.Event.WroteBlindly;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import org.apache.kafka.common.TopicPartition;

/** The invariants that must hold at every moment, whatever fails. */
final class Safety {
  private Safety() {}

  private record Grant(String id, long token) {}

  /**
   * All of these checks.
   *
   * @param before the IDs of a partition's records before an offset
   * @param skew what the wall clocks of machines may differ by, as declared
   * @param maxAttempts after how many a record is given up
   */
  static List<Check> all(
      BiFunction<TopicPartition, Long, List<String>> before, Duration skew, int maxAttempts) {
    return List.of(
        new OneClaimant(),
        new RisingTokens(),
        new TerminalStates(),
        new OwnClaims(),
        new ConditionalWrites(),
        new GrantedHandlers(),
        new NoEarlyTakeover(),
        new FreshNonces(),
        new SettledOffsets(before),
        new OwnPartitions(),
        new AttemptsInHand(maxAttempts));
  }

  /** For one ID and token, one claimant at most acts as if it were granted. */
  static final class OneClaimant implements Check {
    private final Map<Grant, String> claimants = new HashMap<>();

    @Override
    public int invariant() {
      return 1;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (event instanceof Wrote wrote && wrote.after().state() == State.ABSENT) {
        // What is forgotten is new again; others check that it was time for that.
        claimants.keySet().removeIf(grant -> grant.id().equals(wrote.after().id()));
      } else if (event instanceof Began(Instant _, String machine, String id, long token, int _)) {
        String first = claimants.putIfAbsent(new Grant(id, token), machine);
        if (first != null) {
          violations.tell(
              "%s was handled with token %d by %s and by %s".formatted(id, token, first, machine));
        }
      }
    }
  }

  /** Tokens rise with every grant, and never fall. */
  static final class RisingTokens implements Check {
    private final Map<String, Long> highest = new HashMap<>();

    @Override
    public int invariant() {
      return 2;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (event instanceof Wrote wrote && wrote.after().state() == State.ABSENT) {
        highest.remove(wrote.after().id()); // that it was time for that is another's to check
      } else if (event instanceof Wrote wrote) {
        String id = wrote.after().id();
        long token = wrote.after().token();
        long before = highest.getOrDefault(id, 0L);
        if (wrote.isGrant() ? token <= before : token < before) {
          violations.tell("the token of %s went from %d to %d".formatted(id, before, token));
        }
        highest.put(id, Math.max(before, token));
      }
    }
  }

  /** What is done or dead stays so, unless it is redriven, or its time is over. */
  static final class TerminalStates implements Check {
    private final Set<String> ended = new HashSet<>();

    @Override
    public int invariant() {
      return 3;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (event instanceof Wrote wrote) {
        String id = wrote.after().id();
        if (wrote.isRedrive() || wrote.after().state() == State.ABSENT) {
          ended.remove(id); // who did that, and when, is up to other checks
        }
        if (ended.contains(id)) {
          violations.tell(
              "%s was %s and is %s".formatted(id, wrote.before().state(), wrote.after().state()));
        }
        if (wrote.after().isTerminal()) {
          ended.add(id);
        }
      }
    }
  }

  /** Who renews, completes, releases or buries has the claim. */
  static final class OwnClaims implements Check {
    /** Who was granted which, and has not been followed by another grant. */
    private final Map<String, String> holders = new HashMap<>();

    @Override
    public int invariant() {
      return 4;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (event instanceof Wrote wrote) {
        String id = wrote.after().id();
        if (wrote.isGrant()) {
          holders.put(id, wrote.machine());
        } else if (wrote.before().state() == State.HELD
            && wrote.after().state() != State.ABSENT
            && !wrote.isReleaseByOperator()
            && !wrote.machine().equals(holders.get(id))) {
          violations.tell(
              "%s made %s of %s, which %s has"
                  .formatted(wrote.machine(), wrote.after().state(), id, holders.get(id)));
        }
      }
    }
  }

  /** Every write has a condition. */
  static final class ConditionalWrites implements Check {
    @Override
    public int invariant() {
      return 5;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (event instanceof WroteBlindly(Instant _, String machine, String what)) {
        violations.tell("%s sent %s without a condition".formatted(machine, what));
      }
    }
  }

  /** No handler is called but by who was granted the claim, with its token. */
  static final class GrantedHandlers implements Check {
    private final Map<Grant, String> granted = new HashMap<>();

    @Override
    public int invariant() {
      return 6;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Wrote wrote when wrote.isGrant() ->
            granted.put(new Grant(wrote.after().id(), wrote.after().token()), wrote.machine());
        case Began(Instant _, String machine, String id, long token, int _) -> {
          String holder = granted.get(new Grant(id, token));
          if (!machine.equals(holder)) {
            violations.tell(
                "%s handles %s with token %d, which was granted to %s"
                    .formatted(machine, id, token, holder));
          }
        }
        default -> {}
      }
    }
  }

  /** Nobody takes over what its holder still counts on, by the true time. */
  static final class NoEarlyTakeover implements Check {
    private final Map<Grant, Instant> counted = new HashMap<>();

    @Override
    public int invariant() {
      return 8;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case ToldLease(Instant at, String _, String id, long token, Duration left) ->
            counted.put(new Grant(id, token), at.plus(left));
        case Wrote wrote when wrote.isTakeover() -> {
          Instant until = counted.get(new Grant(wrote.before().id(), wrote.before().token()));
          if (until != null && until.isAfter(wrote.at())) {
            violations.tell(
                "%s took %s over at %s, on which %s counts until %s"
                    .formatted(
                        wrote.machine(),
                        wrote.after().id(),
                        wrote.at(),
                        wrote.before().holder(),
                        until));
          }
        }
        default -> {}
      }
    }
  }

  /**
   * No two bodies of one ID have one nonce; what is claimed at once has one. But for a grant that
   * an operator took back, and one of which its claimant never heard and that another took over, or
   * that was given back as a resource is taken: the claimant asks again by the same claim, and is
   * granted that by another token.
   */
  static final class FreshNonces implements Check {
    /** Hex digits of a nonce that count the writes under a grant. */
    private static final int COUNT = 16;

    private final Set<String> seen = new HashSet<>();
    private final Set<String> heard = new HashSet<>();

    @Override
    public int invariant() {
      return 9;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case ToldLease told -> heard.add(told.id() + " " + told.token());
        case Began began -> heard.add(began.id() + " " + began.token());
        case Wrote wrote when wrote.after().state() != State.ABSENT -> {
          if (!seen.add(name(wrote.after()))) {
            violations.tell("%s was written with a nonce of old".formatted(wrote.after().id()));
          }
          ClaimItem before = wrote.before();
          boolean unheard = !heard.contains(before.id() + " " + before.token());
          if (wrote.isReleaseByOperator() || (wrote.isTakeover() && unheard)) {
            seen.remove(name(before));
          }
          if (unheard && before.state() == State.HELD && wrote.after().state() == State.FREE) {
            seen.removeIf(name -> name.startsWith(grant(before)));
          }
        }
        default -> {}
      }
    }

    private static String name(ClaimItem item) {
      return item.id() + " " + item.nonce();
    }

    /** How the names begin of all that is written under its grant. */
    private static String grant(ClaimItem item) {
      String name = name(item);
      return name.substring(0, name.length() - COUNT);
    }
  }

  /**
   * An offset is committed when all before it are done, or dead with their letters; what was
   * redriven has to be so again. Of several redrives of an ID, none of which has ended, one end
   * settles all: of a holder that died there are two letters, and two may be redriven.
   */
  static final class SettledOffsets implements Check {
    private final BiFunction<TopicPartition, Long, List<String>> before;
    private final Map<String, State> states = new HashMap<>();
    private final Map<String, Set<String>> redrives = new HashMap<>();
    private final Set<String> letters = new HashSet<>();
    private final Set<String> settled = new HashSet<>();

    SettledOffsets(BiFunction<TopicPartition, Long, List<String>> before) {
      this.before = before;
    }

    @Override
    public int invariant() {
      return 12;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Wrote wrote -> {
          String id = wrote.after().id();
          if (wrote.isRedrive()) {
            letters.remove(id);
          }
          states.put(id, wrote.after().state());
          redrives.computeIfAbsent(id, _ -> new HashSet<>()).add(wrote.after().redrive());
          settle(id);
        }
        case Letter(Instant _, String _, String id) -> {
          letters.add(id);
          settle(id);
        }
        case Committed(Instant _, String group, TopicPartition partition, long offset) -> {
          Set<String> open = new TreeSet<>();
          for (String record : before.apply(partition, offset)) {
            if (!settled.contains(record)) {
              open.add("%s, which is %s".formatted(record, states.get(record)));
            }
          }
          if (!open.isEmpty()) {
            violations.tell("%s committed %s@%d over %s".formatted(group, partition, offset, open));
          }
        }
        default -> {}
      }
    }

    private void settle(String id) {
      State state = states.get(id);
      if (state == State.DONE || (state == State.DEAD && letters.contains(id))) {
        redrives.getOrDefault(id, Set.of("")).forEach(each -> settled.add(redriven(id, each)));
      }
    }
  }

  /** How a record is called that comes by a redrive. */
  static String redriven(String id, String redrive) {
    return redrive.isEmpty() ? id : id + " by " + redrive;
  }

  /** Nobody commits a partition that is not his own. */
  static final class OwnPartitions implements Check {
    @Override
    public int invariant() {
      return 14;
    }

    @Override
    public void see(Event event, Violations violations) {
      if (event
          instanceof CommittedByStranger(Instant _, String machine, TopicPartition partition)) {
        violations.tell("%s committed %s, which is not its own".formatted(machine, partition));
      }
    }
  }

  /**
   * Who is dead for too many attempts was as often in hand: of a handler, or of a process that died
   * with it. But for once: the first grant counts, and nobody may have heard of it (ADR 11).
   */
  static final class AttemptsInHand implements Check {
    private final int maxAttempts;
    private final Map<String, Integer> inHand = new HashMap<>();
    private final Map<String, Set<Grant>> lying = new HashMap<>();

    AttemptsInHand(int maxAttempts) {
      this.maxAttempts = maxAttempts;
    }

    @Override
    public int invariant() {
      return 31;
    }

    @Override
    public void see(Event event, Violations violations) {
      switch (event) {
        case Wrote wrote when wrote.isGrant() ->
            lying
                .computeIfAbsent(wrote.machine(), _ -> new HashSet<>())
                .add(new Grant(wrote.after().id(), wrote.after().token()));
        case Wrote wrote when wrote.isRedrive() || wrote.after().state() == State.ABSENT ->
            inHand.remove(wrote.after().id());
        case Began(Instant _, String machine, String id, long token, int _) -> {
          lying.getOrDefault(machine, new HashSet<>()).remove(new Grant(id, token));
          inHand.merge(id, 1, Integer::sum);
        }
        case Killed(Instant _, String machine) ->
            lying
                .getOrDefault(machine, Set.of())
                .forEach(grant -> inHand.merge(grant.id(), 1, Integer::sum));
        case Wrote wrote when wrote.after().state() == State.DEAD -> {
          int had = inHand.getOrDefault(wrote.after().id(), 0);
          if (had < maxAttempts - 1) {
            violations.tell(
                "%s is dead after %d attempts, and was in hand %d times"
                    .formatted(wrote.after().id(), wrote.after().attempts(), had));
          }
        }
        default -> {}
      }
    }
  }
}
