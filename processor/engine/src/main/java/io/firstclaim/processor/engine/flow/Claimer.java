package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.processor.engine.admission.ResourceTurns;
import io.firstclaim.processor.engine.admission.StoreGate;
import io.firstclaim.processor.engine.api.EngineCatalog;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineListener.Claimed;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.OnMismatch;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.flow.Work.Task;
import io.firstclaim.processor.engine.identity.ClaimHorizon;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Claims records that are admitted, and says where the store's answer leads. Thread-safe. */
public final class Claimer {
  private static final Logger LOG = LoggerFactory.getLogger(Claimer.class);

  /** The pauses between two questions to the store while no outcomes can be read. */
  private static final Backoff PAUSES = new Backoff(Duration.ofMillis(100), Duration.ofMinutes(2));

  /** The token of the first grant of an ID. */
  private static final long FIRST = 1;

  private final ClaimStore store;
  private final Duration lease;
  private final OnMismatch onMismatch;
  private final OutcomePublisher publisher;
  private final EngineListener listener;
  private final @Nullable Findings findings;
  private final TimeSource time;
  private final ClaimHorizon horizon;
  private final OncePerMinute unreadable;
  private final OncePerMinute tooOld;

  /**
   * Claims from this store.
   *
   * @param findings is told of what would have become of records, in shadow mode; else null
   */
  public Claimer(
      ClaimStore store,
      EngineSettings settings,
      OutcomePublisher publisher,
      EngineListener listener,
      @Nullable Findings findings,
      TimeSource time) {
    this.store = store;
    this.lease = settings.claim().store().lease();
    this.onMismatch = settings.claim().onMismatch();
    this.publisher = publisher;
    this.listener = listener;
    this.findings = findings;
    this.time = time;
    this.horizon = new ClaimHorizon(settings.claim().store().retention());
    this.unreadable = new OncePerMinute(time);
    this.tooOld = new OncePerMinute(time);
  }

  /**
   * Claims a record that is admitted.
   *
   * @param from where it was before, by which it is known what to ask
   */
  State claim(RecordInFlight record, State from) {
    if (findings != null && record.work().task() instanceof Task.GiveUp(String cause)) {
      findings.noId(record.id(), record.delivery().record(), cause);
      return found(record);
    }
    Claim claim = toSend(record, from);
    record.claims(claim);
    record.entry().turn().asks();
    ClaimResult answer = send(record, claim);
    return answer == null ? unanswered(from) : state(record, from, answer);
  }

  /**
   * The claim to send. One whose answer never came is sent again for as long as its lease could
   * run, so that it is recognised if it was granted. One that failed for good is not: of several
   * IDs, those that were granted are given back, by a release that may still be on its way.
   */
  private Claim toSend(RecordInFlight record, State from) {
    Moment now = time.now();
    Claim last = record.lastClaim();
    if (last != null) {
      if (from instanceof State.HeldElsewhere held) {
        return Claim.after(held.answer(), last, now);
      }
      if (from instanceof State.Blocked blocked) {
        return Claim.after(blocked.answer(), last, now);
      }
      if (from instanceof State.Unanswered && now.since(last.start()).compareTo(lease) < 0) {
        return last;
      }
    }
    Work work = record.work();
    Claim first = work.claimId().claim(work.fingerprint(), now);
    return work.resources().isEmpty() ? first : first.withResources(work.resources());
  }

  /** The store's answer; null if there is none, or none that can be read. */
  private @Nullable ClaimResult send(RecordInFlight record, Claim claim) {
    StoreGate.Request request = record.entry().request();
    record.trace().claims();
    try {
      ClaimResult answer = store.claim(claim);
      request.answered(answer instanceof ClaimResult.Granted);
      claimed(record, Claimed.of(answer));
      return answer;
    } catch (UnreadableClaimException e) {
      // It concerns this record alone: the gate stays open for the others.
      request.answered(false);
      claimed(record, Claimed.UNREADABLE);
      forgetIfOfSeveral(record, claim);
      record.entry().turn().leave();
      LOG.atLevel(unreadable.isDue() ? Level.WARN : Level.DEBUG)
          .log("{} cannot be claimed, trying again: {}", claim.id(), e.getMessage());
      return null;
    } catch (StoreException e) {
      claimed(record, Claimed.UNAVAILABLE);
      if (e instanceof StoreRefusedException) {
        forgetIfOfSeveral(record, claim);
      }
      request.failed(String.valueOf(e.getMessage()));
      return null;
    }
  }

  private static void forgetIfOfSeveral(RecordInFlight record, Claim claim) {
    if (!claim.resources().isEmpty()) {
      record.forgetsClaim();
    }
  }

  private void claimed(RecordInFlight record, Claimed answer) {
    listener.claimed(answer);
    record.trace().claimed(answer);
  }

  private State.Unanswered unanswered(State from) {
    int inARow = from instanceof State.Unanswered before ? before.inARow() + 1 : 1;
    return new State.Unanswered(inARow, pause(StoreGate.pauseAfter(inARow)));
  }

  private State state(RecordInFlight record, State from, ClaimResult answer) {
    return switch (answer) {
      case ClaimResult.Granted granted -> {
        record.lives(granted.lease().token());
        if (granted.lease().token() == FIRST && record.work().redrive() == null) {
          horizon
              .faultOf(record.delivery().record(), granted.lease().start().wall())
              .ifPresent(why -> tooOld(record, why));
        }
        yield new State.Granted(granted);
      }
      case ClaimResult.Held held -> {
        record.lives(held.token());
        yield held(record, from, held);
      }
      case ClaimResult.Blocked blocked -> blocked(record, from, blocked);
      case ClaimResult.Later(Instant retryAt, _) ->
          new State.NotDue(pause(Duration.between(time.now().wall(), retryAt)));
      case ClaimResult.Done(Ending ending, var result) -> {
        if (findings != null) {
          findings.done(record.id(), record.delivery().record(), ending, result);
        }
        yield ended(record, Outcome.Kind.COMPLETED, ending, null);
      }
      case ClaimResult.Dead(Ending ending, String cause) ->
          ended(record, record.work().deadKind(), ending, cause);
      case ClaimResult.Mismatch(Fingerprint stored) -> mismatch(record, stored);
    };
  }

  /** The store does not know the record: it is new, or forgotten. */
  private void tooOld(RecordInFlight record, String why) {
    listener.tooOld();
    if (record.work().task() instanceof Work.Task.Handle && tooOld.isDue()) {
      LOG.warn(
          "{} is processed though {}; {}=dead-letter gives such records up",
          record.id(),
          why,
          EngineCatalog.TOO_OLD);
    }
  }

  /**
   * While outcomes can be read, it is soon enough to ask again at the end of the lease; and of one
   * that is longer than ours, after ours: whoever claims by another way announces no outcome.
   */
  private State.HeldElsewhere held(RecordInFlight record, State from, ClaimResult.Held answer) {
    int inARow = from instanceof State.HeldElsewhere before ? before.inARow() + 1 : 1;
    Duration most = record.hearsOutcomes() ? lease : PAUSES.whole(inARow);
    return new State.HeldElsewhere(answer, inARow, pause(shorter(most, answer.remaining())));
  }

  /**
   * Others hold some of its resources. Each outcome at them wakes it. It asks now and then all the
   * same, less and less often, as not all that holds a resource ends in an outcome: in a store
   * without transactions, a claim that is refused has held some for a moment.
   */
  private State.Blocked blocked(RecordInFlight record, State from, ClaimResult.Blocked answer) {
    State.Blocked before = from instanceof State.Blocked blocked ? blocked : null;
    int inARow = before == null ? 0 : before.inARow();
    Moment told = before == null ? null : before.told();
    List<String> inTheWay = answer.inTheWay().stream().map(each -> each.id().text()).toList();
    if (record.entry().turn().blocked(inTheWay)) {
      return new State.Blocked(answer, inARow, told, pause(Duration.ZERO));
    }
    Moment now = time.now();
    if (told == null || now.since(told).compareTo(ResourceTurns.STAND_BACK) >= 0) {
      told = now;
      publisher.blocked(record, answer);
    }
    return new State.Blocked(
        answer, inARow + 1, told, pause(shorter(PAUSES.whole(inARow + 1), answer.remaining())));
  }

  /**
   * The store says that the record has ended. If that was lately and nothing is heard of it for a
   * lease, its holder died before it could say so; then it is announced here, for a source that
   * redelivers the record until it hears of its end.
   */
  private State ended(
      RecordInFlight record, Outcome.Kind kind, Ending ending, @Nullable String cause) {
    // In shadow mode nobody goes by what is announced.
    if (findings != null || !record.misses(ending)) {
      return new State.EndedElsewhere();
    }
    Duration left = lease.minus(Duration.between(ending.at(), time.now().wall()));
    // The lease bounds it, as its holder's clock may be ahead.
    return new State.Unannounced(kind, ending, cause, pause(shorter(left, lease)));
  }

  private State mismatch(RecordInFlight record, Fingerprint stored) {
    if (findings != null) {
      findings.mismatch(record.id(), record.delivery().record());
      return found(record);
    }
    return switch (onMismatch) {
      case DEAD_LETTER -> new State.Anew(record.work().mismatched(stored));
      case SKIP -> {
        LOG.warn("{} is known with another payload; this one is skipped", record.id());
        publisher.skipped(record);
        yield new State.Settled();
      }
    };
  }

  /** What there is to say of it was found, and nothing is done with it. */
  private static State found(RecordInFlight record) {
    record.delivery().letOffsetGo();
    return new State.Settled();
  }

  private State.Pause pause(Duration length) {
    return State.Pause.of(length, time.now());
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
