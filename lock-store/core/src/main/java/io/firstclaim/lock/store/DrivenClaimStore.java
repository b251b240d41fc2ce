package io.firstclaim.lock.store;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.StoreListener;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.ClaimRecords.Stored;
import io.firstclaim.lock.store.ClaimRecords.Write.Differs;
import io.firstclaim.lock.store.ClaimRecords.Write.Took;
import java.time.Instant;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A claim store over anything that can read and write on condition. Each command is decided on what
 * is presumed stored: for a claim nothing, for a step under a lease what the lease's last write
 * left. If the write then finds something else, the command is decided anew on that. So a step that
 * meets no surprise is one write, and our own write whose answer was lost is recognised.
 *
 * <p>A store of your own either extends this or contains it. Thread-safe.
 */
public class DrivenClaimStore implements ClaimStore {
  /**
   * Decisions on a record that changes under us converge quickly; more rounds than this mean a
   * defect.
   */
  private static final int MAX_ROUNDS = 10;

  private final ClaimRecords records;
  private final ClaimSettings settings;
  private final StoreClock clock;
  private volatile @Nullable String identity;

  /**
   * A claim store over these records, whose times are by a clock that is compared with the store's.
   *
   * @param clock the one that the records take their times from
   */
  public DrivenClaimStore(ClaimRecords records, ClaimSettings settings, StoreClock clock) {
    this.records = records;
    this.settings = settings;
    this.clock = clock;
  }

  /** A claim store over these records, whose times are by this machine's clock. */
  public DrivenClaimStore(ClaimRecords records, ClaimSettings settings, TimeSource time) {
    this(records, settings, new StoreClock(time, settings.maxSkew(), StoreListener.NONE));
  }

  @Override
  public final ClaimResult claim(Claim claim) {
    Moment now = clock.now();
    ClaimRecord first = Protocol.grant(null, claim, now, settings).next();
    return switch (records.claim(claim, first, now)) {
      case Took(String version, ClaimRecord over) ->
          versioned(Protocol.grant(over, claim, now, settings).then(), version);
      case Differs(Stored stored) -> {
        var acquire = new Command.Acquire(claim);
        yield byThisMachinesClock(
            drive(
                "claim",
                claim.id(),
                stored,
                (found, seen) -> Protocol.decide(found, acquire, seen, settings),
                DrivenClaimStore::versioned));
      }
    };
  }

  @Override
  public final SettleResult renew(Lease lease) {
    return settle("renew", new Command.Renew(lease));
  }

  @Override
  public final SettleResult complete(Lease lease, @Nullable String result) {
    return settle("complete", new Command.Complete(lease, result));
  }

  @Override
  public final SettleResult release(Lease lease, Instant retryAt, String cause) {
    return settle("release", new Command.Release(lease, clock.toStore(retryAt), cause));
  }

  @Override
  public final SettleResult bury(Lease lease, String cause) {
    return settle("bury", new Command.Bury(lease, cause));
  }

  @Override
  public final Optional<ClaimRecord> find(RecordId id) {
    return records.read(id).map(Stored::claim);
  }

  @Override
  public final String identity() {
    String known = identity;
    if (known == null) {
      known = records.identity();
      identity = known;
    }
    return known;
  }

  private SettleResult settle(String op, Command.Settle command) {
    Lease lease = command.lease();
    var known = new Stored(Protocol.stateOf(lease), lease.version(), clock.now());
    try {
      return drive(
          op,
          lease.id(),
          known,
          (found, now) -> Protocol.decide(found, command, now, settings),
          (answer, version) ->
              // No later step may be conditional on the end of a lease.
              command instanceof Command.Renew && answer instanceof Settled(Lease renewed)
                  ? new Settled(renewed.withVersion(version))
                  : answer);
    } catch (StoreUnavailableException e) {
      return new SettleResult.Unknown(String.valueOf(e.getMessage()));
    }
  }

  private interface Decider<R> {
    Decision<R> decide(@Nullable ClaimRecord found, Moment now);
  }

  /**
   * Decides on what is expected to be stored, and again on what is stored for as long as that
   * differs.
   *
   * @param versioned adds to an answer the version that the next step is conditional on
   */
  private <R> R drive(
      String op,
      RecordId id,
      @Nullable Stored expected,
      Decider<R> decider,
      BiFunction<R, @Nullable String, R> versioned) {
    Stored stored = expected;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      // When it was seen, not when it was asked for: the holder may have renewed while the request
      // was on its way, and a sighting counts from after the lease was seen.
      Moment now = stored == null ? clock.now() : stored.seen();
      switch (decider.decide(stored == null ? null : stored.claim(), now)) {
        case Decision.Answer<R>(R answer) -> {
          return versioned.apply(answer, stored == null ? null : stored.version());
        }
        case Decision.Write<R>(ClaimRecord next, R then) -> {
          switch (records.write(op, id, next, stored, now)) {
            case Took took -> {
              return versioned.apply(then, took.version());
            }
            case Differs(Stored found) -> stored = found;
          }
        }
      }
    }
    throw new StoreUnavailableException(
        "what is stored of %s changed %d times during one %s".formatted(id, MAX_ROUNDS, op),
        new IllegalStateException());
  }

  private static ClaimResult versioned(ClaimResult answer, @Nullable String version) {
    return answer instanceof Granted(Lease lease, String takenFrom)
        ? new Granted(lease.withVersion(version), takenFrom)
        : answer;
  }

  private ClaimResult byThisMachinesClock(ClaimResult answer) {
    return switch (answer) {
      case ClaimResult.Later(Instant retryAt, int attempts) ->
          new ClaimResult.Later(clock.toMachine(retryAt), attempts);
      case ClaimResult.Done(Ending ending, String result) ->
          new ClaimResult.Done(byThisMachinesClock(ending), result);
      case ClaimResult.Dead(Ending ending, String cause) ->
          new ClaimResult.Dead(byThisMachinesClock(ending), cause);
      case Granted unused -> answer;
      case ClaimResult.Held unused -> answer;
      case ClaimResult.Mismatch unused -> answer;
    };
  }

  private Ending byThisMachinesClock(Ending ending) {
    return new Ending(ending.by(), ending.token(), ending.attempt(), clock.toMachine(ending.at()));
  }
}
