package io.firstclaim.simulation.check;

import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;

/** What happened, which every check sees as it happens. Nothing is ever taken from it. */
public final class History {
  private static final int LAST = 40;

  private final World world;
  private final List<Check> checks;
  private final List<Violation> violations = new ArrayList<>();
  private final Deque<String> last = new ArrayDeque<>();
  private final Map<String, Integer> reached = new TreeMap<>();
  private final Map<String, Integer> running = new TreeMap<>();
  private final Traces traces = new Traces();

  /** Why a run is red. */
  public record Violation(int invariant, String what, List<String> before) {}

  /**
   * What engines were told, and what must hold of it.
   *
   * @param lease the length of leases
   * @param skew what the wall clocks of machines may differ by, as declared
   * @param storeSkew what the clocks of the store's own machines differ by, of that
   * @param handlerTime how long a handler may take
   * @param maxAttempts after how many a record is given up
   * @param inFlight how many records an instance may have in flight
   * @param idle how long a record may lie once it is calm, without a handler or a retry to wait for
   * @param calls how many requests to the store a record may cost once it is calm
   */
  public record Bounds(
      Duration lease,
      Duration skew,
      Duration storeSkew,
      Duration handlerTime,
      int maxAttempts,
      int inFlight,
      Duration idle,
      int calls) {}

  /**
   * An empty history.
   *
   * @param before the IDs of a partition's records before an offset
   * @param kept how long the end of an ID is remembered
   */
  public History(
      World world,
      BiFunction<TopicPartition, Long, List<String>> before,
      Bounds bounds,
      Function<String, Duration> kept) {
    this.world = world;
    this.checks = new ArrayList<>(checks(before, bounds));
    this.checks.addAll(Actors.all(kept, bounds.storeSkew()));
    this.checks.add(new Reach(this::reach));
  }

  /** What must hold, whatever happens. */
  static List<Check> checks(BiFunction<TopicPartition, Long, List<String>> before, Bounds bounds) {
    return Stream.of(
            Safety.all(before, bounds.skew(), bounds.maxAttempts()),
            Answers.all(bounds.lease(), bounds.skew(), bounds.storeSkew(), bounds.handlerTime()),
            Liveness.all(bounds))
        .flatMap(List::stream)
        .toList();
  }

  /** Something has happened. */
  public void add(Event event) {
    world.note(event.toString());
    if (!(event instanceof Event.Stock
        || event instanceof Event.ToldLease
        || event instanceof Event.StepBegan
        || event instanceof Event.StepEnded)) {
      last.add("%10.3f s  %s".formatted(world.elapsed().toNanos() / 1e9, Words.of(event)));
    }
    if (last.size() > LAST) {
      last.remove();
    }
    if (event instanceof Event.Wrote wrote) {
      traces.wrote(wrote);
    }
    count(event);
    for (Check check : checks) {
      check.see(event, what -> violated(check.invariant(), what));
    }
  }

  private void count(Event event) {
    switch (event) {
      case Event.Wrote wrote -> {
        reach("writes");
        if (wrote.isTakeover()) {
          reach("takeovers");
        }
        if (wrote.after().state() == ClaimItem.State.DONE) {
          reach("done");
        }
        if (wrote.after().state() == ClaimItem.State.DEAD) {
          reach("dead");
        }
      }
      case Event.Began began -> {
        reach("handled");
        if (running.merge(began.id(), 1, Integer::sum) > 1) {
          reach("overlapping runs");
        }
      }
      case Event.Ended ended -> running.merge(ended.id(), -1, Integer::sum);
      case Event.Committed _ -> reach("commits");
      case Event.Letter _ -> reach("dead letters");
      case Event.WroteBlindly _,
          Event.CommittedByStranger _,
          Event.Stops _,
          Event.Killed _,
          Event.AnswerLost _,
          Event.Used _,
          Event.Asks _,
          Event.ToldHeld _,
          Event.Disturbed _,
          Event.Revoked _,
          Event.Calm _,
          Event.Over _,
          Event.Stock _,
          Event.Interrupted _,
          Event.StepBegan _,
          Event.StepEnded _,
          Event.ToldLease _,
          Event.ToldSettled _,
          Event.ToldLost _,
          Event.Defect _ -> {}
    }
    if (event instanceof Event.Defect(var _, String machine, String what)) {
      violated(0, "the engine on %s has ended: %s".formatted(machine, what));
    }
  }

  /** Something was reached that a run must reach to prove anything. */
  public void reach(String what) {
    reached.merge(what, 1, Integer::sum);
  }

  /** A goal was missed, or something must not have happened. */
  public void violated(int invariant, String what) {
    world.note("invariant " + invariant + ": " + what);
    violations.add(new Violation(invariant, what, List.copyOf(last)));
  }

  /** All that was violated, in the order in which it was. */
  public List<Violation> violations() {
    return violations;
  }

  /** The writes of the store, for {@code ClaimTrace.tla}. */
  public Traces traces() {
    return traces;
  }

  /** How often what was reached. */
  public Map<String, Integer> reached() {
    return reached;
  }
}
