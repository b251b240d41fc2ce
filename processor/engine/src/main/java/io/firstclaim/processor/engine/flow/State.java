package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Moment;
import io.firstclaim.processor.engine.admission.Admission;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.WaitsFor;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where a record in flight is. What comes next is said by {@link RecordFlow#next}; where a record
 * may wait, and what wakes it, is told in {@code docs/architecture.md}.
 */
sealed interface State {
  /** The record waits, and works under no lease. */
  sealed interface Waiting extends State {
    /** What the record waits for. */
    default WaitsFor what() {
      return switch (this) {
        case Following _ -> WaitsFor.SAME_ID;
        case Entering _, Unanswered _ -> WaitsFor.STORE;
        case Queued queued -> queued.at.what();
        case HeldElsewhere _ -> WaitsFor.HOLDER;
        case Blocked _ -> WaitsFor.RESOURCE;
        case NotDue _ -> WaitsFor.RETRY;
        case Refused _ -> WaitsFor.DOWNSTREAM;
        case Unannounced _ -> WaitsFor.ANNOUNCEMENT;
        case Defective _ -> WaitsFor.DEFECT;
      };
    }

    /** Until when at most; null if that is not known. */
    default @Nullable Instant until() {
      return null;
    }

    /** Who or what is in the way; null if that has no name. */
    default @Nullable String by() {
      return null;
    }
  }

  /** The record waits for a while, at most. */
  sealed interface Pausing extends Waiting {
    /** How long the record waits. */
    Pause pause();

    @Override
    default Instant until() {
      return pause().until;
    }
  }

  /** Nothing more is done with it by its thread. */
  sealed interface Over extends State {}

  /**
   * A pause.
   *
   * @param length how long it is at most
   * @param until when that is over, by this machine's clock
   */
  record Pause(Duration length, Instant until) {
    static Pause of(Duration length, Moment now) {
      return new Pause(length, now.wall().plus(length));
    }
  }

  /** Another delivery of its ID, with another payload, is worked on here. */
  record Following() implements Waiting {}

  /** Another delivery of the same record is worked on here; this one has nothing but its offset. */
  record Twin() implements State {}

  /** It is to be claimed as if it were seen for the first time. */
  record Due() implements State {}

  /**
   * It asks to be admitted, and then asks the store.
   *
   * @param from the state before, by which it is known what to ask
   */
  record Entering(State from) implements Waiting {}

  /**
   * It waits at one of the checkpoints of its admission.
   *
   * @param from as for {@link Entering}
   */
  record Queued(State from, Admission.Wait at, @Nullable Instant until) implements Waiting {}

  /** It is this instance's, under a lease. */
  record Granted(ClaimResult.Granted answer) implements State {}

  /** Another holder has it. */
  record HeldElsewhere(ClaimResult.Held answer, int inARow, Pause pause) implements Pausing {
    @Override
    public String by() {
      return answer.by();
    }
  }

  /**
   * Others hold what it touches.
   *
   * @param told when that was last published
   */
  record Blocked(ClaimResult.Blocked answer, int inARow, @Nullable Moment told, Pause pause)
      implements Pausing {
    @Override
    public String by() {
      return answer.inTheWay().stream()
          .map(each -> each.id().text())
          .collect(Collectors.joining(", "));
    }
  }

  /** Its next attempt is not due yet. */
  record NotDue(Pause pause) implements Pausing {}

  /** The store gave no answer, so its claim may have been granted. */
  record Unanswered(int inARow, Pause pause) implements Pausing {}

  /** The downstream was not there for it. */
  record Refused(Pause pause) implements Pausing {}

  /** The store says that it has ended, but nobody has announced that. */
  record Unannounced(Outcome.Kind kind, Ending ending, @Nullable String cause, Pause pause)
      implements Pausing {}

  /** Work on it failed in an unforeseen way; it pauses, and begins anew. */
  record Defective() implements Waiting {}

  /** It has ended without this instance: that was heard of, or the store says so. */
  record EndedElsewhere() implements State {}

  /** It needs nothing more: its end is recorded, by whichever zone. */
  record Settled() implements Over {}

  /** Its handler came back after it was given up: another thread has gone on with the record. */
  record Abandoned() implements Over {}

  /**
   * It begins anew as other work, and perhaps under another ID: it is to be given up, or not any
   * more.
   */
  record Anew(Work instead) implements Over {}

  /** It is not this instance's any more. */
  record Left() implements Over {}
}
