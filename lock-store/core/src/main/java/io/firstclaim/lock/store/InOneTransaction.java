package io.firstclaim.lock.store;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RecordId.Space;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.store.ClaimRecords.ConditionalPut;
import io.firstclaim.lock.store.ClaimRecords.Stored;
import io.firstclaim.lock.store.ClaimRecords.Together;
import io.firstclaim.lock.store.ClaimRecords.Writes.Differ;
import io.firstclaim.lock.store.ClaimRecords.Writes.Took;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Several IDs in a store with transactions. Each of them is decided on by itself, on what is
 * presumed stored, and all the writes that come of that are one transaction; if it finds something
 * else, the decisions are made anew on that.
 */
final class InOneTransaction implements Several {
  private final Together records;
  private final ClaimSettings settings;
  private final StoreClock clock;

  InOneTransaction(Together records, ClaimSettings settings, StoreClock clock) {
    this.records = records;
    this.settings = settings;
    this.clock = clock;
  }

  /** What is stored for some IDs, as far as this store knows. */
  private static final class Known {
    private final Map<RecordId, Stored> stored;

    Known(Map<RecordId, Stored> stored) {
      this.stored = new HashMap<>(stored);
    }

    @Nullable ClaimRecord claim(RecordId id) {
      Stored found = stored.get(id);
      return found == null ? null : found.claim();
    }

    /** The moment at which an ID is decided on: when it was read, or now if nothing is stored. */
    StoreMoment seen(RecordId id, StoreMoment now) {
      Stored found = stored.get(id);
      return found == null ? now : found.seen();
    }

    ConditionalPut change(RecordId id, ClaimRecord next) {
      return new ConditionalPut(id, next, stored.get(id));
    }

    void learn(Differ differ) {
      differ
          .found()
          .forEach((id, found) -> stored.compute(id, (unused, before) -> found.orElse(null)));
    }
  }

  @Override
  public ClaimResult claim(Claim claim) {
    List<Claim> all = Stream.concat(Stream.of(claim), claim.resources().stream()).toList();
    Known known = new Known(records.read(all.stream().map(Claim::id).toList()));
    for (int round = 0; round < DrivenClaimStore.MAX_ROUNDS; round++) {
      List<Granted> grants = new ArrayList<>();
      List<ConditionalPut> changes = new ArrayList<>();
      List<ClaimResult.InTheWay> inTheWay = new ArrayList<>();
      StoreMoment now = clock.now();
      for (Claim one : all) {
        ClaimResult answer =
            switch (Protocol.decide(
                known.claim(one.id()),
                new Command.Acquire(one),
                known.seen(one.id(), now),
                settings)) {
              case Decision.Unchanged<ClaimResult>(ClaimResult result) ->
                  DrivenClaimStore.byThisMachinesClock(result, now);
              case Decision.Update<ClaimResult>(ClaimRecord next, ClaimResult then) -> {
                changes.add(known.change(one.id(), next));
                yield then;
              }
            };
        if (answer instanceof Granted granted) {
          grants.add(granted);
        } else if (one.id().equals(claim.id()) && one.id().space() == Space.RECORD) {
          return answer; // what became of the record matters more than who holds what it touches
        } else {
          inTheWay.add(ClaimResult.InTheWay.of(one.id(), answer, now.machine().wall()));
        }
      }
      if (!inTheWay.isEmpty()) {
        return new ClaimResult.Blocked(inTheWay);
      }
      if (changes.isEmpty() || isWritten(StoreOperation.CLAIM, changes, null, now, known)) {
        Granted first = grants.getFirst();
        return new Granted(
            first.lease().withResources(grants.stream().skip(1).map(Granted::lease).toList()),
            first.takenFrom());
      }
    }
    throw DrivenClaimStore.unsettled(StoreOperation.CLAIM, claim.id());
  }

  private boolean isWritten(
      StoreOperation op,
      List<ConditionalPut> changes,
      @Nullable Effects effects,
      StoreMoment now,
      Known known) {
    DrivenClaimStore.requireTime(op, now);
    // Each change has times of the moment at which it was decided.
    changes.forEach(change -> DrivenClaimStore.requireTime(op, known.seen(change.id(), now)));
    return switch (records.write(op, changes, effects, now.judging())) {
      case Took unused -> true;
      case Differ differ -> {
        known.learn(differ);
        yield false;
      }
    };
  }

  @Override
  public SettleResult settle(
      StoreOperation op, Lease lease, Function<StoreMoment, Command.Settle> step) {
    return settle(op, lease, step, null);
  }

  @Override
  public SettleResult complete(Lease lease, @Nullable String result, Effects effects) {
    return settle(
        StoreOperation.COMPLETE, lease, unused -> new Command.Complete(lease, result), effects);
  }

  private SettleResult settle(
      StoreOperation op,
      Lease lease,
      Function<StoreMoment, Command.Settle> step,
      @Nullable Effects effects) {
    try {
      return settled(op, lease, step, effects);
    } catch (StoreUnavailableException e) {
      return new SettleResult.Unknown(String.valueOf(e.getMessage()));
    }
  }

  private SettleResult settled(
      StoreOperation op,
      Lease lease,
      Function<StoreMoment, Command.Settle> step,
      @Nullable Effects effects) {
    boolean renews = op == StoreOperation.RENEW;
    // Work that goes on, or is recorded as done, needs all that it touches. What gives up does not:
    // it ends what is still held.
    boolean needsAll = renews || op == StoreOperation.COMPLETE;
    Known known = presumed(lease);
    for (int round = 0; round < DrivenClaimStore.MAX_ROUNDS; round++) {
      StoreMoment now = clock.now();
      SettleResult.Lost lostRecord = null;
      List<Lease> after = new ArrayList<>();
      List<ConditionalPut> changes = new ArrayList<>();
      for (Lease one : (Iterable<Lease>) all(lease)::iterator) {
        StoreMoment seen = known.seen(one.id(), now);
        boolean isFirst = one.id().equals(lease.id());
        Command.Settle command =
            isFirst
                ? step.apply(seen)
                : renews
                    ? new Command.Renew(one)
                    : new Command.Release(
                        one, ClaimStore.AT_ONCE, "%s is settled".formatted(lease.id()));
        switch (Protocol.decide(known.claim(one.id()), command, seen, settings)) {
          case Decision.Unchanged<SettleResult>(SettleResult answer) -> {
            if (answer instanceof SettleResult.Lost lost && !needsAll) {
              lostRecord = isFirst ? lost : lostRecord;
              continue;
            }
            if (!(answer instanceof Settled(Lease left))) {
              return answer;
            }
            if (isFirst && !renews) {
              return answer; // all was written before, and others may hold the resources by now
            }
            after.add(left);
          }
          case Decision.Update<SettleResult>(ClaimRecord next, SettleResult then) -> {
            changes.add(known.change(one.id(), next));
            after.add(((Settled) then).lease());
          }
        }
      }
      if (changes.isEmpty() || isWritten(op, changes, effects, now, known)) {
        return lostRecord != null
            ? lostRecord
            : new Settled(after.getFirst().withResources(after.subList(1, after.size())));
      }
    }
    throw DrivenClaimStore.unsettled(op, lease.id());
  }

  private static Stream<Lease> all(Lease lease) {
    return Stream.concat(Stream.of(lease), lease.resources().stream());
  }

  /** What the last writes of a lease left. It is read if the time is unknown, as that tells it. */
  private Known presumed(Lease lease) {
    StoreMoment now = clock.now();
    if (!now.isKnown()) {
      return new Known(records.read(all(lease).map(Lease::id).toList()));
    }
    Map<RecordId, Stored> left = new HashMap<>();
    all(lease)
        .forEach(one -> left.put(one.id(), new Stored(Protocol.stateOf(one), one.version(), now)));
    return new Known(left);
  }
}
