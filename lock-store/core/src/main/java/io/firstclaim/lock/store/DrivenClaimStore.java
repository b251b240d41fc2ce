package io.firstclaim.lock.store;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RecordId.Space;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.ReleaseResult;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.ClaimRecords.Stored;
import io.firstclaim.lock.store.ClaimRecords.Write.Differs;
import io.firstclaim.lock.store.ClaimRecords.Write.Took;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A claim store over anything that can read and write on condition. Each command is decided on what
 * is presumed stored: for a claim nothing, for a step under a lease what the lease's last write
 * left. If the write then finds something else, the command is decided anew on that. So a step that
 * meets no surprise is one write, and our own write whose answer was lost is recognised.
 *
 * <p>A store of your own either extends this or contains it. Thread-safe.
 */
public class DrivenClaimStore implements ClaimStore, ClaimOperations {
  /**
   * Decisions on a record that changes under us converge quickly; more rounds than this mean a
   * defect.
   */
  static final int MAX_ROUNDS = 10;

  /**
   * Why a record is free whose claim was not granted, as something that was claimed with it is
   * another's: it was held until that was found.
   */
  public static final String BLOCKED = "given back: a resource is taken";

  private final ClaimRecords records;
  private final ClaimSettings settings;
  private final StoreClock clock;
  private volatile @Nullable String identity;

  /** A claim store over these records, whose times are by this clock. */
  public DrivenClaimStore(ClaimRecords records, ClaimSettings settings, StoreClock clock) {
    this.records = records;
    this.settings = settings;
    this.clock = clock;
  }

  /** A claim store over these records; this machine's clock is the store's. */
  public DrivenClaimStore(ClaimRecords records, ClaimSettings settings, TimeSource time) {
    this(records, settings, StoreClock.ofMachine(time));
  }

  /**
   * The same claims, for a holder of that name and with leases of that length. Requests go the same
   * way, within the time limits of this store's own lease.
   *
   * @throws IllegalArgumentException if they cannot keep the protocol's promise; the message says
   *     what would be right
   */
  public final DrivenClaimStore forHolder(String holder, Duration lease) {
    return new DrivenClaimStore(
        records,
        new ClaimSettings(
            settings.namespace(), holder, lease, settings.maxSkew(), settings.retention()),
        clock);
  }

  /** What all claims here have in common. */
  public final ClaimSettings settings() {
    return settings;
  }

  /**
   * The lease of a grant as it stands now, read from the store: for a holder that kept nothing of
   * it but its token and its nonce, and whose steps may go by several processes. Its life here
   * counts from now. What it was claimed with is not part of it.
   *
   * @param grant the nonce of the claim that was granted
   * @return empty if it is not held under that grant, or not any more
   * @throws io.firstclaim.lock.UnreadableClaimException if what is stored for this ID is not a
   *     claim
   * @throws StoreUnavailableException if the store did not answer
   */
  public final Optional<Lease> resume(RecordId id, long token, Nonce grant) {
    return records
        .read(id)
        .filter(found -> found.claim().token() == token && found.claim().nonce().isUnder(grant))
        .flatMap(found -> leaseOf(id, found));
  }

  private static Optional<Lease> leaseOf(RecordId id, Stored found) {
    ClaimRecord claim = found.claim();
    return claim.state() instanceof ClaimState.Held held
        ? Optional.of(
            new Lease(
                id,
                held.holder(),
                claim.token(),
                claim.attempts(),
                true,
                claim.fingerprint(),
                claim.nonce(),
                found.seen().machine(),
                held.length(),
                found.version(),
                held.onBehalfOf(),
                List.of(),
                claim.redrive()))
        : Optional.empty();
  }

  @Override
  public final ClaimResult claim(Claim claim) {
    return claim.resources().isEmpty()
        ? claimOne(new Command.Acquire(claim))
        : several().claim(claim);
  }

  private Several several() {
    return records
        .together()
        .<Several>map(together -> new InOneTransaction(together, settings, clock))
        .orElseGet(() -> new OneByOne(this));
  }

  /** Claims an ID without its resources. */
  ClaimResult claimOne(Command.Acquire acquire) {
    Claim claim = acquire.claim();
    StoreMoment now = clock.now();
    // Any answer of the store will tell the time. And a record is mostly new, but a mutex or a
    // resource was mostly there before: a read says who has it, where a write would be refused.
    if (!now.isKnown() || claim.id().space() != Space.RECORD) {
      return driven(acquire, records.read(claim.id()).orElse(null));
    }
    Decision.Update<ClaimResult> first = Protocol.grant(null, claim, now, settings);
    return switch (records.claim(claim, first.next(), now.judging())) {
      case Took(String version, ClaimRecord over) -> {
        var granted = over == null ? first : Protocol.grant(over, claim, now, settings);
        yield versioned(granted.then(), version);
      }
      case Differs(Stored stored) -> driven(acquire, stored);
    };
  }

  private ClaimResult driven(Command.Acquire acquire, @Nullable Stored stored) {
    return byThisMachinesClock(
        drive(
            StoreOperation.CLAIM,
            acquire.claim().id(),
            stored,
            (found, seen) -> Protocol.decide(found, acquire, seen, settings),
            DrivenClaimStore::versioned));
  }

  @Override
  public final SettleResult renew(Lease lease) {
    return settle(StoreOperation.RENEW, lease, unused -> new Command.Renew(lease));
  }

  @Override
  public final SettleResult complete(Lease lease, @Nullable String result) {
    return settle(StoreOperation.COMPLETE, lease, unused -> new Command.Complete(lease, result));
  }

  @Override
  public final SettleResult complete(Lease lease, @Nullable String result, Effects effects) {
    return several().complete(lease, result, effects);
  }

  @Override
  public final int writesAtOnce() {
    return records.writesAtOnce();
  }

  @Override
  public final boolean writesEffects() {
    return records.together().isPresent();
  }

  @Override
  public final SettleResult release(Lease lease, Instant retryAt, String cause) {
    if (retryAt.equals(AT_ONCE)) {
      return settle(
          StoreOperation.RELEASE, lease, unused -> new Command.Release(lease, AT_ONCE, cause));
    }
    Moment asked = clock.now().machine();
    Duration delay = Duration.between(asked.wall(), retryAt);
    return settle(
        StoreOperation.RELEASE,
        lease,
        now -> {
          Duration left = delay.minus(now.machine().since(asked));
          return new Command.Release(lease, now.early().plus(left), cause);
        });
  }

  @Override
  public final SettleResult bury(Lease lease, String cause) {
    return settle(StoreOperation.BURY, lease, unused -> new Command.Bury(lease, cause));
  }

  @Override
  public final ReleaseResult release(RecordId id, String reason) {
    return release(id, reason, unused -> true);
  }

  @Override
  public final ReleaseResult release(RecordId id, long token, String reason) {
    return release(id, reason, claim -> claim.token() == token);
  }

  private ReleaseResult release(RecordId id, String reason, Predicate<ClaimRecord> isMeant) {
    Stored found = records.read(id).orElse(null);
    ClaimRecord meant = found != null && isMeant.test(found.claim()) ? found.claim() : null;
    var takeBack = new Command.TakeBack(reason, Nonce.random());
    return drive(
        StoreOperation.RELEASE,
        id,
        found,
        (stored, unused) -> Protocol.decide(stored, takeBack, meant),
        (answer, unused) -> answer);
  }

  @Override
  public final RedriveResult redrive(
      RecordId id, Fingerprint payload, RedriveId by, @Nullable String reason) {
    var redrive = new Command.Redrive(payload, by, reason, Nonce.random());
    return drive(
        StoreOperation.REDRIVE,
        id,
        records.read(id).orElse(null),
        (stored, unused) -> Protocol.decide(stored, redrive),
        (answer, unused) -> answer);
  }

  @Override
  public final boolean undoRedrive(
      RecordId id, RedriveId by, long token, int attempts, ClaimState.Dead end) {
    var undo = new Command.UndoRedrive(by, token, attempts, end, Nonce.random());
    return drive(
        StoreOperation.REDRIVE,
        id,
        records.read(id).orElse(null),
        (stored, unused) -> Protocol.decide(stored, undo),
        (answer, unused) -> answer);
  }

  @Override
  public final Optional<ClaimRecord> find(RecordId id) {
    return records.read(id).map(Stored::claim);
  }

  /**
   * Whether a lease that was found just now is over for sure, by the clock by which this store
   * judges leases: whoever claims may take it over.
   */
  public final boolean isOver(ClaimState.Held held) {
    return held.end().plus(settings.maxSkew()).isBefore(clock.now().early());
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

  private SettleResult settle(
      StoreOperation op, Lease lease, Function<StoreMoment, Command.Settle> command) {
    return lease.resources().isEmpty()
        ? settleOne(op, lease, command)
        : several().settle(op, lease, command);
  }

  /** Makes a step under a lease, without its resources. */
  SettleResult settleOne(
      StoreOperation op, Lease lease, Function<StoreMoment, Command.Settle> command) {
    try {
      return drive(
          op,
          lease.id(),
          presumed(lease),
          (found, now) -> Protocol.decide(found, command.apply(now), now, settings),
          (answer, version) ->
              // A lease that has ended keeps its old version: no later step may rest on how it
              // ended.
              op == StoreOperation.RENEW && answer instanceof Settled(Lease renewed)
                  ? new Settled(renewed.withVersion(version))
                  : answer);
    } catch (StoreUnavailableException e) {
      return new SettleResult.Unknown(String.valueOf(e.getMessage()));
    }
  }

  /** What the last write of a lease left. It is read if the time is unknown, as that tells it. */
  private @Nullable Stored presumed(Lease lease) {
    StoreMoment now = clock.now();
    return now.isKnown()
        ? new Stored(Protocol.stateOf(lease), lease.version(), now)
        : records.read(lease.id()).orElse(null);
  }

  private interface Decider<R> {
    Decision<R> decide(@Nullable ClaimRecord found, StoreMoment now);
  }

  /**
   * Decides on what is expected to be stored, and again on what is stored for as long as that
   * differs.
   *
   * @param versioned adds to an answer the version that the next step is conditional on
   */
  private <R> R drive(
      StoreOperation op,
      RecordId id,
      @Nullable Stored expected,
      Decider<R> decider,
      BiFunction<R, @Nullable String, R> versioned) {
    Stored stored = expected;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      // A sighting counts from after the lease was seen. It must not count from when the store was
      // asked, as the holder may have renewed while that request was on its way.
      StoreMoment now = stored == null ? clock.now() : stored.seen();
      switch (decider.decide(stored == null ? null : stored.claim(), now)) {
        case Decision.Unchanged<R>(R answer) -> {
          return versioned.apply(answer, stored == null ? null : stored.version());
        }
        case Decision.Update<R>(ClaimRecord next, R then) -> {
          requireTime(op, now);
          switch (records.write(op, id, next, stored, now.judging())) {
            case Took took -> {
              return versioned.apply(then, took.version());
            }
            case Differs(Stored found) -> stored = found;
          }
        }
      }
    }
    throw unsettled(op, id);
  }

  static StoreUnavailableException unsettled(StoreOperation op, RecordId id) {
    return new StoreUnavailableException(
        "what is stored of %s changed %d times during one %s".formatted(id, MAX_ROUNDS, op));
  }

  static void requireTime(StoreOperation op, StoreMoment now) {
    if (!now.isKnown()) {
      throw new StoreUnavailableException(
          "the store's time is not known, so no %s can be written: its answers have no Date, or this"
                  .formatted(op)
              + " machine's clock leaps");
    }
  }

  private static ClaimResult versioned(ClaimResult answer, @Nullable String version) {
    return answer instanceof Granted(Lease lease, String takenFrom)
        ? new Granted(lease.withVersion(version), takenFrom)
        : answer;
  }

  private ClaimResult byThisMachinesClock(ClaimResult answer) {
    return byThisMachinesClock(answer, clock.now());
  }

  static ClaimResult byThisMachinesClock(ClaimResult answer, StoreMoment now) {
    return switch (answer) {
      case ClaimResult.Later(Instant retryAt, int attempts) ->
          new ClaimResult.Later(now.toMachine(retryAt), attempts);
      case ClaimResult.Done(Ending ending, String result) ->
          new ClaimResult.Done(byThisMachinesClock(ending, now), result);
      case ClaimResult.Dead(Ending ending, String cause) ->
          new ClaimResult.Dead(byThisMachinesClock(ending, now), cause);
      case Granted unused -> answer;
      case ClaimResult.Blocked unused -> answer;
      case ClaimResult.Held unused -> answer;
      case ClaimResult.Mismatch unused -> answer;
    };
  }

  private static Ending byThisMachinesClock(Ending ending, StoreMoment now) {
    return new Ending(ending.by(), ending.token(), ending.attempt(), now.toMachine(ending.at()));
  }
}
