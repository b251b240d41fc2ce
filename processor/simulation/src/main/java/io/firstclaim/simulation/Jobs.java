package io.firstclaim.simulation;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.keeper.HeldLease;
import io.firstclaim.simulation.check.Event;
import io.firstclaim.simulation.check.History;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;

/** Jobs that several machines have done once each, by a deduplicator of the product's. */
final class Jobs {
  static final String PREFIX = "job-";
  private static final Duration PAUSE = Duration.ofSeconds(3);
  private static final Duration QUICK = Duration.ofMillis(200);
  private static final Duration SLOW = Duration.ofSeconds(14);
  private static final RetryPolicy RETRY =
      new RetryPolicy(
          Zones.MAX_ATTEMPTS, new Backoff(Duration.ofMillis(500), Duration.ofSeconds(5)));

  private final World world;
  private final History history;
  private final double slow;
  private final int many;
  private final Set<String> ended = new TreeSet<>();

  Jobs(World world, History history, double slow, int many) {
    this.world = world;
    this.history = history;
    this.slow = slow;
    this.many = many;
  }

  /** Whether somebody was told of the end of each. */
  boolean areEnded() {
    return ended.size() == many;
  }

  /** How many have not ended, in words. */
  String open() {
    return "%d of %d jobs".formatted(many - ended.size(), many);
  }

  /** Works on this machine, without end. */
  void work(Machine machine, ClaimStore store, TimeSource time) throws InterruptedException {
    Deduplicator deduplicator = Deduplicator.builder(store, time).retry(RETRY).build();
    while (true) {
      time.sleep(world.upTo(PAUSE));
      String id = PREFIX + world.below(many);
      try {
        RunResult result =
            deduplicator.run(
                RecordId.of(id), Fingerprint.none(), lease -> done(machine, id, lease));
        if (result instanceof RunResult.Ran
            || result instanceof RunResult.DoneBefore
            || result instanceof RunResult.GivenUp) {
          ended.add(id);
        }
        if (result instanceof RunResult.DoneBefore) {
          history.reach("jobs done before");
        }
      } catch (StoreException e) {
        world.note(machine + " could not have " + id + " done");
      }
    }
  }

  private String done(Machine machine, String id, HeldLease lease) throws InterruptedException {
    history.add(new Event.Began(world.now(), machine.name(), id, lease.token(), lease.attempt()));
    try {
      Thread.sleep(world.upTo(world.chance(slow) ? SLOW : QUICK));
      history.add(new Event.Asks(world.now(), machine.name(), id, lease.token()));
      lease.ensureHeld();
      history.add(new Event.ToldHeld(world.now(), machine.name(), id, lease.token()));
      if (id.equals(PREFIX + 0) || world.chance(0.05)) {
        throw new IllegalStateException("it does not work");
      }
      return "done";
    } finally {
      history.add(new Event.Ended(world.now(), machine.name(), id, lease.token()));
    }
  }
}
