package io.firstclaim.simulation;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.simulation.check.ClaimItem.State;
import io.firstclaim.simulation.check.Event;
import io.firstclaim.simulation.check.History;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A machine's store, with a note of what it tells, and of what holders count on who ask it: the
 * history has what is true.
 */
final class ToldStore implements ClaimStore {
  private final ClaimStore store;
  private final World world;
  private final Machine machine;
  private final TimeSource time;
  private final History history;

  ToldStore(ClaimStore store, World world, Machine machine, TimeSource time, History history) {
    this.store = store;
    this.world = world;
    this.machine = machine;
    this.time = time;
    this.history = history;
  }

  @Override
  public ClaimResult claim(Claim claim) {
    ClaimResult answer = store.claim(claim);
    if (answer instanceof ClaimResult.Granted granted) {
      holds(granted.lease());
    }
    return answer;
  }

  @Override
  public SettleResult renew(Lease lease) {
    return told(lease, State.HELD, () -> store.renew(lease));
  }

  @Override
  public SettleResult complete(Lease lease, @Nullable String result) {
    return told(lease, State.DONE, () -> store.complete(lease, result));
  }

  @Override
  public SettleResult complete(Lease lease, @Nullable String result, Effects effects) {
    return told(lease, State.DONE, () -> store.complete(lease, result, effects));
  }

  @Override
  public int writesAtOnce() {
    return store.writesAtOnce();
  }

  @Override
  public boolean writesEffects() {
    return store.writesEffects();
  }

  @Override
  public SettleResult release(Lease lease, Instant retryAt, String cause) {
    return told(lease, State.FREE, () -> store.release(lease, retryAt, cause));
  }

  @Override
  public SettleResult bury(Lease lease, String cause) {
    return told(lease, State.DEAD, () -> store.bury(lease, cause));
  }

  @Override
  public Optional<ClaimRecord> find(RecordId id) {
    return store.find(id);
  }

  @Override
  public String identity() {
    return store.identity();
  }

  private void holds(Lease lease) {
    history.add(
        new Event.ToldLease(
            world.now(),
            machine.name(),
            lease.id().text(),
            lease.token(),
            lease.remaining(time.now())));
  }

  private SettleResult told(Lease lease, State step, Supplier<SettleResult> asked) {
    holds(lease);
    String id = lease.id().text();
    history.add(new Event.StepBegan(world.now(), machine.name(), id, lease.token()));
    SettleResult answer;
    try {
      answer = asked.get();
    } finally {
      history.add(new Event.StepEnded(world.now(), machine.name(), id, lease.token()));
    }
    switch (answer) {
      case SettleResult.Settled(Lease after) when step == State.HELD -> holds(after);
      case SettleResult.Settled _ ->
          history.add(new Event.ToldSettled(world.now(), machine.name(), id, lease.token(), step));
      case SettleResult.Lost _ ->
          history.add(
              new Event.ToldLost(
                  world.now(), machine.name(), id, lease.token(), resourcesOf(lease)));
      case SettleResult.Unknown _ -> {}
    }
    return answer;
  }

  private static Map<String, Long> resourcesOf(Lease lease) {
    return lease.resources().stream()
        .collect(Collectors.toMap(each -> Locker.text(each.id()), Lease::token));
  }
}
