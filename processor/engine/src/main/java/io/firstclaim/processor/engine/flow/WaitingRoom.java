package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.admission.ResourceTurns;
import io.firstclaim.processor.engine.api.EngineSettings.Trust;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.identity.ClaimId;
import io.firstclaim.processor.engine.intake.AssignedPartition;
import io.firstclaim.processor.engine.outcome.KnownDone;
import io.firstclaim.processor.engine.outcome.OutcomeFeed;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The one place where a record waits for something to happen to it, here or elsewhere, and the only
 * one that knows what may wake it. Waiting for room, in flight or in the lock store, is not done
 * here but at {@link InFlightLimit} and {@link io.firstclaim.processor.engine.admission.StoreGate}.
 * Thread-safe.
 */
public final class WaitingRoom implements OutcomeFeed.Listener {
  /** A call comes long before. */
  private static final Duration LONG = Duration.ofHours(1);

  private final Tickets<Errand> tickets;
  private final ResourceTurns turns;
  private final KnownDone known;
  private final BooleanSupplier hearsOutcomes;
  private final Trust trust;

  /**
   * An empty room.
   *
   * @param tickets of all records in it; the polling thread uses them to stop the records of a
   *     partition that it loses
   * @param turns of records at what they touch; is told when others have done with it
   * @param known the records whose end was announced
   * @param hearsOutcomes whether what the others announce is heard at once
   * @param trust whether that is enough to skip a record, or only to ask the store about it
   */
  public WaitingRoom(
      Tickets<Errand> tickets,
      ResourceTurns turns,
      KnownDone known,
      BooleanSupplier hearsOutcomes,
      Trust trust) {
    this.tickets = tickets;
    this.turns = turns;
    this.known = known;
    this.hearsOutcomes = hearsOutcomes;
    this.trust = trust;
  }

  /** Wakes the one that waits for this outcome's record, and those that wait for its resources. */
  @Override
  public void heard(RecordId id, Fingerprint payload, Outcome outcome) {
    wake(id, payload, outcome);
    if (!outcome.resources().isEmpty()) {
      switch (outcome.kind()) {
        case COMPLETED, DEAD, FAILED -> turns.ended(id, outcome.resources());
        case BLOCKED -> turns.waits(id, outcome.resources());
        case TAKEN_OVER, LEASE_LOST, MISMATCH -> {}
      }
    }
  }

  private void wake(RecordId id, Fingerprint payload, Outcome outcome) {
    switch (outcome.kind()) {
      case COMPLETED, DEAD -> tickets.signal(ClaimId.of(id), new Signal.Ended());
      case MISMATCH -> tickets.signal(ClaimId.ofMismatch(id, payload), new Signal.Ended());
      case FAILED -> {
        Instant retryAt = outcome.retryAt();
        if (retryAt != null) {
          Duration delay = Duration.between(outcome.at(), retryAt);
          tickets.signal(ClaimId.of(id), payload, new Signal.DueIn(delay));
        }
      }
      case TAKEN_OVER, LEASE_LOST, BLOCKED -> {}
    }
  }

  /** Wakes all of this partition to stop. Returns those that only followed another, taken out. */
  List<Errand> stop(AssignedPartition partition) {
    return tickets.stop(errand -> errand.delivery().partition().equals(partition));
  }

  /** Wakes all to stop. */
  void stopAll() {
    tickets.stopAll();
  }

  /** A seat for this record, not taken yet; the current thread is the one to be woken. */
  Seat seat(Errand errand) {
    Work work = errand.work();
    return new Seat(work, new Ticket<>(work.claimId(), work.fingerprint(), errand));
  }

  /** Why a record goes on. */
  enum Woken {
    /** Its end was announced. */
    ITS_END,
    /**
     * An end was announced under its ID that does not count for it, as it had another payload or is
     * not to be trusted: the store must say.
     */
    ANOTHERS_END,
    /** An attempt was announced to have failed, and the next one is due. */
    RETRY_DUE,
    /** A resource that it waits for was announced to be free. */
    FREED,
    /** The partition was lost, or the engine stops. */
    STOP,
    /** It has waited long enough: a lease, a head start or a pause is over. */
    TIME_UP
  }

  /** The place of one record: there is one for each ID in this instance. */
  final class Seat {
    private final Work work;
    private final Ticket<Errand> ticket;

    private Seat(Work work, Ticket<Errand> ticket) {
      this.work = work;
      this.ticket = ticket;
    }

    /**
     * Takes the seat or, if another record of its ID has it, has this one follow that one.
     *
     * @return the one that is followed; null if the seat is taken
     */
    @Nullable Errand enter() {
      while (true) {
        Ticket<Errand> other = tickets.enter(ticket);
        if (other == null) {
          return null;
        }
        Errand leader = other.owner();
        Errand errand = ticket.owner();
        if (other.follow(errand.isTwinOf(leader) ? errand.behind(leader) : errand)) {
          return leader;
        }
      }
    }

    /** Has another record of its ID follow this one, which has taken its seat. */
    void letFollow(Errand follower) {
      boolean _ = ticket.follow(follower);
    }

    /** Leaves the seat. Returns those that have followed it: none, if it is called again. */
    List<Errand> leave() {
      return tickets.leave(ticket);
    }

    /**
     * Whether the record's end was announced, and that is enough: not for a redriven one, as that
     * may be the end that it was freed from.
     */
    boolean isKnownToHaveEnded() {
      return trust == Trust.TOPIC
          && work.redrive() == null
          && known.contains(work.reportId(), work.fingerprint());
    }

    /** Says what the record is doing, for people and its trace. */
    void doing(Doing now) {
      ticket.doing(now);
      if (now instanceof Doing.Waiting waiting) {
        ticket.owner().delivery().trace().waits(waiting.what());
      }
    }

    /** The store says that the record lives, under a lease with this token. */
    void lives(long token) {
      if (work.redrive() != null) {
        known.lives(work.reportId(), work.fingerprint(), token);
      }
    }

    /** Whether waiting is enough, as what the others announce is heard at once. */
    boolean hearsOutcomes() {
      return hearsOutcomes.getAsBoolean();
    }

    /** Whether this end would be known here if it had been announced, and is not. */
    boolean misses(Ending ending) {
      return hearsOutcomes()
          && ending.at().isAfter(known.horizon())
          && !known.contains(work.reportId(), work.fingerprint(), ending.token());
    }

    /** Waits this long or, if an attempt is announced to have failed, until the next one is due. */
    Woken await(Duration atMost) throws InterruptedException {
      return await(atMost, true);
    }

    /** Waits this long to hear the end of a record that has ended: no other attempt is due. */
    Woken awaitEnd(Duration atMost) throws InterruptedException {
      return await(atMost, false);
    }

    private Woken await(Duration atMost, boolean mayBeDue) throws InterruptedException {
      Duration left = atMost;
      Woken whenTimeIsUp = Woken.TIME_UP;
      while (!isKnownToHaveEnded()) {
        @Nullable Signal signal = ticket.await(left);
        if (signal == null && !left.isPositive()) {
          return whenTimeIsUp; // nothing can have been announced meanwhile
        }
        if (!isKnownToHaveEnded()) {
          switch (signal) {
            case null -> {
              return whenTimeIsUp;
            }
            case Signal.Stop _ -> {
              return Woken.STOP;
            }
            case Signal.Ended _ -> {
              return Woken.ANOTHERS_END;
            }
            case Signal.DueIn(Duration delay) -> {
              if (mayBeDue) {
                left = delay;
                whenTimeIsUp = Woken.RETRY_DUE;
              }
            }
            case Signal.Freed _ -> {
              if (mayBeDue) {
                return Woken.FREED;
              }
            }
            case Signal.YourTurn _ -> {} // it waits for something else by now
          }
        }
      }
      return Woken.ITS_END;
    }

    /** Has it ask again whether it may try the downstream, or whether its resources are its. */
    void call() {
      tickets.signal(work.claimId(), new Signal.YourTurn());
    }

    /** Has it ask the store again, as a resource that it waits for is free. */
    void free() {
      tickets.signal(work.claimId(), new Signal.Freed());
    }

    /**
     * Waits until it is called, or anything else is heard that may have come in the way of that.
     *
     * @return whether its end was announced
     */
    boolean awaitCall() throws InterruptedException {
      return awaitCall(LONG);
    }

    /** The same, for at most this long. */
    boolean awaitCall(Duration atMost) throws InterruptedException {
      if (!isKnownToHaveEnded()) {
        Signal _ = ticket.await(atMost);
      }
      return isKnownToHaveEnded();
    }

    /** Waits this long after a defect, or for a signal of any kind. */
    void pause(Duration atMost) throws InterruptedException {
      doing(Doing.DEFECT);
      Signal _ = ticket.await(atMost);
    }
  }
}
