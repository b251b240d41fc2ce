package io.firstclaim.lock.store;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimState.Dead;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.ClaimState.Free;
import io.firstclaim.lock.ClaimState.Held;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId.Space;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.ReleaseResult;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.Sighting;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The one door through which a claim changes state. Pure: what is stored, what is wanted and the
 * time go in, a decision comes out; the driver carries it out on every store.
 *
 * <pre>
 * ABSENT ──▶ HELD ──▶ DONE | DEAD
 *             ▲ └───▶ FREE ──▶ HELD     takeover: HELD ──▶ HELD with a higher token
 *                       ▲
 *              DEAD ◀───┘               only by an operator's redrive, with a higher token, and back
 *                                       while nobody has claimed it
 * </pre>
 */
final class Protocol {
  /** A cause of more code points is cut: a DynamoDB item has room for 400 KB. */
  private static final int MAX_CAUSE = 1000;

  private Protocol() {}

  /** Decides on a claim. */
  static Decision<ClaimResult> decide(
      @Nullable ClaimRecord stored,
      Command.Acquire command,
      StoreMoment at,
      ClaimSettings settings) {
    Claim claim = command.claim();
    Moment now = at.judging();
    if (stored == null) {
      return grant(null, claim, at, settings);
    }
    if (command.renews()
        && stored.state() instanceof Held
        && stored.nonce().isUnder(claim.nonce())) {
      return renewed(stored, claim, at, settings);
    }
    if (stored.state() instanceof Held && stored.nonce().equals(claim.nonce())) {
      // This claimant's own write, whose answer was lost.
      return new Decision.Unchanged<>(
          new ClaimResult.Granted(granted(stored, claim, settings), null));
    }
    if (!stored.fingerprint().equals(claim.fingerprint())) {
      return new Decision.Unchanged<>(new ClaimResult.Mismatch(stored.fingerprint()));
    }
    return switch (stored.state()) {
      case Done done ->
          new Decision.Unchanged<>(
              new ClaimResult.Done(ending(stored, done.by(), done.at()), done.result()));
      case Dead dead ->
          new Decision.Unchanged<>(
              new ClaimResult.Dead(ending(stored, dead.by(), dead.at()), dead.cause()));
      case Free free ->
          free.retryAt().isAfter(now.wall())
              ? new Decision.Unchanged<>(new ClaimResult.Later(free.retryAt(), stored.attempts()))
              : grant(stored, claim, at, settings);
      case Held held -> {
        Sighting sighting = sighting(stored, held, claim, at.machine());
        Duration remaining = remaining(held, sighting, now, settings);
        yield remaining.isPositive()
            ? new Decision.Unchanged<>(
                new ClaimResult.Held(
                    held.holder(), stored.token(), remaining, sighting, held.onBehalfOf()))
            : grant(stored, claim, at, settings);
      }
    };
  }

  /** Decides on a step under a lease. */
  static Decision<SettleResult> decide(
      @Nullable ClaimRecord stored,
      Command.Settle command,
      StoreMoment at,
      ClaimSettings settings) {
    Lease lease = command.lease();
    if (stored == null || stored.token() != lease.token()) {
      return lost(stored);
    }
    if (stored.state() instanceof Held) {
      if (stored.nonce().equals(lease.nonce())) {
        return write(lease, command, at, settings);
      }
      if (stored.nonce().equals(lease.nonce().next())) {
        // A renewal of ours was applied, though its answer was lost. The lease counts from the
        // old start, as nobody remembers when the renewal was sent.
        Lease known = lease.renewed(lease.start());
        return command instanceof Command.Renew
            ? new Decision.Unchanged<>(
                new SettleResult.Settled(known.counted(stored.attempts() == known.attempt())))
            : write(known, command, at, settings);
      }
      return lost(stored);
    }
    boolean sameStep =
        switch (command) {
          case Command.Renew unused -> false;
          case Command.Complete unused -> stored.state() instanceof Done;
          case Command.Release unused -> stored.state() instanceof Free;
          case Command.Bury unused -> stored.state() instanceof Dead;
        };
    return sameStep && isEndOf(lease, stored.nonce())
        ? new Decision.Unchanged<>(new SettleResult.Settled(lease))
        : lost(stored);
  }

  /**
   * Whether an end with this nonce is that of this lease, or of its renewal whose answer was lost.
   * The token does not tell: after a deletion another's may be the same.
   */
  private static boolean isEndOf(Lease lease, Nonce nonce) {
    Nonce next = lease.nonce().next();
    return nonce.equals(next) || nonce.equals(next.next());
  }

  /**
   * What becomes of an operator's release. A holder that has renewed meanwhile is still the one
   * that is meant; another grant is not.
   *
   * @param meant what was stored when the operator first looked; null for nothing
   */
  static Decision<ReleaseResult> decide(
      @Nullable ClaimRecord stored, Command.TakeBack command, @Nullable ClaimRecord meant) {
    if (stored == null || meant == null || stored.token() != meant.token()) {
      return new Decision.Unchanged<>(new ReleaseResult.NotReleased(stored));
    }
    if (stored.nonce().equals(command.nonce())) {
      // This claimant's own write, whose answer was lost.
      return new Decision.Unchanged<>(new ReleaseResult.Released(meant, stored));
    }
    if (!(stored.state() instanceof Held)) {
      return new Decision.Unchanged<>(new ReleaseResult.NotReleased(stored));
    }
    ClaimRecord free =
        new ClaimRecord(
            stored.token(),
            stored.attempts(),
            command.nonce(),
            stored.fingerprint(),
            new Free(ClaimStore.AT_ONCE, cut(command.reason())),
            stored.redrive());
    return new Decision.Update<>(free, new ReleaseResult.Released(stored, free));
  }

  /** Decides on a redrive. */
  static Decision<RedriveResult> decide(@Nullable ClaimRecord stored, Command.Redrive command) {
    if (stored == null) {
      return new Decision.Unchanged<>(new RedriveResult.NotDead(null));
    }
    if (!stored.fingerprint().equals(command.payload())) {
      return new Decision.Unchanged<>(new RedriveResult.Mismatch(stored.fingerprint()));
    }
    if (command.by().equals(stored.redrive())) {
      return new Decision.Unchanged<>(
          stored.nonce().equals(command.nonce())
              ? new RedriveResult.Freed(stored.token()) // by our own write, whose answer was lost
              : new RedriveResult.FreedBefore(stored));
    }
    if (!(stored.state() instanceof Dead) && !isFreedAndUntried(stored)) {
      return new Decision.Unchanged<>(new RedriveResult.NotDead(stored));
    }
    ClaimRecord free =
        new ClaimRecord(
            stored.token() + 1,
            0,
            command.nonce(),
            stored.fingerprint(),
            new Free(ClaimStore.AT_ONCE, freedBy(command)),
            command.by());
    return new Decision.Update<>(free, new RedriveResult.Freed(free.token()));
  }

  /** Whoever freed it may have died before it was delivered again. */
  private static boolean isFreedAndUntried(ClaimRecord stored) {
    return stored.state() instanceof Free && stored.attempts() == 0 && stored.redrive() != null;
  }

  /** Decides on undoing a redrive: whether the record is dead again. */
  static Decision<Boolean> decide(@Nullable ClaimRecord stored, Command.UndoRedrive command) {
    if (stored == null || stored.token() != command.token()) {
      return new Decision.Unchanged<>(false);
    }
    if (stored.nonce().equals(command.nonce())) {
      return new Decision.Unchanged<>(true); // our own write, whose answer was lost
    }
    if (!(stored.state() instanceof Free) || !command.by().equals(stored.redrive())) {
      return new Decision.Unchanged<>(false);
    }
    Dead end = command.end();
    return new Decision.Update<>(
        new ClaimRecord(
            stored.token(),
            command.attempts(),
            command.nonce(),
            stored.fingerprint(),
            new Dead(end.by(), end.at(), cut(end.cause()))),
        true);
  }

  private static String freedBy(Command.Redrive command) {
    String freed = "freed by redrive " + command.by();
    return command.reason() == null ? freed : cut("%s: %s".formatted(freed, command.reason()));
  }

  /**
   * A grant over what is stored: the next token, the next attempt, and who had it before. For
   * stores that judge the condition themselves and learn afterwards what they wrote over.
   */
  static Decision.Update<ClaimResult> grant(
      @Nullable ClaimRecord stored, Claim claim, StoreMoment at, ClaimSettings settings) {
    Lease lease =
        stored == null
            ? first(claim, claim.firstToken(at.told()), settings)
            : later(stored, stored.token() + 1, claim, settings);
    String takenFrom = stored != null && stored.state() instanceof Held held ? held.holder() : null;
    return new Decision.Update<>(
        held(lease, claim.nonce(), at.late()), new ClaimResult.Granted(lease, takenFrom));
  }

  /** The grant of a claim that was sent before, as if it had been sent now. */
  private static Decision<ClaimResult> renewed(
      ClaimRecord stored, Claim before, StoreMoment at, ClaimSettings settings) {
    Claim now =
        new Claim(
            before.id(),
            before.fingerprint(),
            stored.nonce().next(),
            at.machine(),
            before.sighting(),
            before.onBehalfOf(),
            before.resources());
    Lease lease = granted(stored, now, settings);
    return new Decision.Update<>(
        held(lease, lease.nonce(), at.late()), new ClaimResult.Granted(lease, null));
  }

  /** The lease of what is stored, which was granted to this claim. */
  private static Lease granted(ClaimRecord stored, Claim claim, ClaimSettings settings) {
    return stored.token() == 1
        ? first(claim, 1, settings)
        : later(stored, stored.token(), claim, settings);
  }

  /** The first grant counts its attempt at once, so that a first attempt is two writes. */
  private static Lease first(Claim claim, long token, ClaimSettings settings) {
    return lease(claim, token, 1, true, null, settings);
  }

  /**
   * Any other counts it when its work begins: its answer may be lost, and a store cannot tell such
   * a grant from a holder that died in its work.
   */
  private static Lease later(ClaimRecord stored, long token, Claim claim, ClaimSettings settings) {
    return lease(claim, token, stored.nextAttempt(), false, stored.redrive(), settings);
  }

  private static Lease lease(
      Claim claim,
      long token,
      int attempt,
      boolean counted,
      @Nullable RedriveId redrive,
      ClaimSettings settings) {
    return new Lease(
        claim.id(),
        settings.holder(),
        token,
        attempt,
        counted,
        claim.fingerprint(),
        claim.nonce(),
        claim.start(),
        settings.lease(),
        null,
        claim.onBehalfOf(),
        List.of(),
        redrive);
  }

  /** What is stored while a lease stands, as far as its holder knows. */
  static ClaimRecord stateOf(Lease lease) {
    return held(lease, lease.nonce(), lease.start().wall());
  }

  private static Decision<SettleResult> write(
      Lease lease, Command.Settle command, StoreMoment at, ClaimSettings settings) {
    Lease after = lease.renewed(at.machine());
    Moment now = at.judging();
    ClaimRecord next =
        switch (command) {
          case Command.Renew unused -> held(after, after.nonce(), at.late());
          case Command.Complete c ->
              ended(after, new Done(settings.holder(), now.wall(), wellFormed(c.result())));
          case Command.Release r -> record(after, new Free(due(r.retryAt(), now), cut(r.cause())));
          case Command.Bury b ->
              ended(after, new Dead(settings.holder(), now.wall(), cut(b.cause())));
        };
    return new Decision.Update<>(next, new SettleResult.Settled(after));
  }

  /** Half a surrogate pair, which UTF-8 cannot write and so no store can keep, becomes '?'. */
  private static @Nullable String wellFormed(@Nullable String text) {
    return text == null
        ? null
        : new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  private static String cut(String cause) {
    String text = new String(cause.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    return text.codePointCount(0, text.length()) <= MAX_CAUSE
        ? text
        : text.substring(0, text.offsetByCodePoints(0, MAX_CAUSE)) + "…";
  }

  /**
   * Not before the release itself: a claim that was sent earlier and arrives late, such as a
   * duplicate of the one just answered, is then not due and cannot take a record that nobody is
   * waiting for. At that very moment the record is due here, where somebody waits for the answer
   * and a duplicate of the write finds another record; not to a request that is all by itself. What
   * is due at once needs no such time: it is only written over by who has seen it, so that no clock
   * is asked.
   */
  private static Instant due(Instant retryAt, Moment released) {
    return retryAt.isBefore(released.wall()) && !retryAt.equals(ClaimStore.AT_ONCE)
        ? released.wall()
        : retryAt;
  }

  /** The record of a lease that is written no later than this. */
  private static ClaimRecord held(Lease lease, Nonce nonce, Instant late) {
    return new ClaimRecord(
        lease.token(),
        lease.countedAttempts(),
        nonce,
        lease.fingerprint(),
        new Held(lease.holder(), lease.length(), late.plus(lease.length()), lease.onBehalfOf()),
        lease.redrive());
  }

  /** Only a record ends: all else is held and given back. */
  private static ClaimRecord ended(Lease lease, ClaimState state) {
    if (lease.id().space() != Space.RECORD) {
      throw new IllegalArgumentException(
          "%s is a %s, which is given back, and never done or dead"
              .formatted(lease.id(), lease.id().space()));
    }
    return record(lease, state);
  }

  private static ClaimRecord record(Lease lease, ClaimState state) {
    return new ClaimRecord(
        lease.token(), lease.attempt(), lease.nonce(), lease.fingerprint(), state, lease.redrive());
  }

  private static Ending ending(ClaimRecord stored, String by, Instant at) {
    return new Ending(by, stored.token(), stored.attempts(), at);
  }

  private static Decision<SettleResult> lost(@Nullable ClaimRecord stored) {
    String by =
        switch (stored == null ? null : stored.state()) {
          case null -> null;
          case Held held -> held.holder();
          case Done done -> done.by();
          case Dead dead -> dead.by();
          case Free unused -> null;
        };
    return new Decision.Unchanged<>(new SettleResult.Lost(by));
  }

  private static Sighting sighting(ClaimRecord stored, Held held, Claim claim, Moment now) {
    Sighting seen = claim.sighting();
    return seen != null && seen.token() == stored.token() && seen.nonce().equals(stored.nonce())
        ? seen
        : new Sighting(stored.token(), stored.nonce(), now, held.length());
  }

  /**
   * How long a lease must still be respected: its end on the store's clock plus the skew bound, or
   * until it has been watched unchanged for long enough, whichever comes first.
   */
  private static Duration remaining(
      Held held, Sighting sighting, Moment now, ClaimSettings settings) {
    Duration byWall = Duration.between(now.wall(), held.end().plus(settings.maxSkew()));
    // "Over" is strictly past the bound; a duration is positive until one nanosecond after it.
    Duration untilPast = byWall.plusNanos(1);
    Duration byWatch = sighting.remaining(now);
    return untilPast.compareTo(byWatch) < 0 ? untilPast : byWatch;
  }
}
