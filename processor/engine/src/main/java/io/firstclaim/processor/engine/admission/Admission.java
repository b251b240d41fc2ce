package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.WaitsFor;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Admits records to be claimed and handled. Each passes the same {@link Checkpoint}s in the same
 * {@link #ORDER}, which is said here and nowhere else. Who asks first is served first; where
 * permits are short, partitions take turns. A priority between records would be given by {@link
 * InFlightLimit}, which chooses who gets the next permit. Thread-safe.
 */
public final class Admission {
  /** What a record passes, in this order. */
  static final List<Step> ORDER =
      List.of(
          new Step(WaitsFor.HEAD_START, entry -> entry.headStart),
          new Step(WaitsFor.RESOURCE, entry -> entry.turn),
          new Step(WaitsFor.SUSPECT, entry -> entry.suspect),
          new Step(WaitsFor.DOWNSTREAM, entry -> entry.trial),
          new Step(WaitsFor.PLACE, entry -> entry.permit),
          new Step(WaitsFor.RATE, entry -> entry.slot),
          new Step(WaitsFor.STORE, entry -> entry.request));

  /** Nobody has it; asking for it shows that the store answers. */
  private static final RecordId PROBE = RecordId.of("firstclaim-probe");

  private final Affinity affinity;
  private final ResourceTurns turns;
  private final Suspects suspects = new Suspects();
  private final Breaker breaker;
  private final InFlightLimit limit;
  private final HandlerRate rate;
  private final StoreGate gate;
  private final TimeSource time;

  /**
   * Nobody is admitted yet.
   *
   * @param store the lock store
   * @param lastSign when a zone last gave a sign of life; null if it never did
   */
  public Admission(
      EngineSettings settings,
      ClaimStore store,
      Function<String, @Nullable Instant> lastSign,
      TimeSource time) {
    Duration lease = settings.claim().store().lease();
    this.affinity =
        new Affinity(
            settings.zone(), settings.zones(), settings.claim().headStart(), lease, lastSign, time);
    this.time = time;
    this.turns = new ResourceTurns(time);
    this.breaker = new Breaker(time);
    this.limit =
        new InFlightLimit(
            settings.input().maxInFlight(),
            settings.input().maxParked(),
            settings.input().bufferedForRecords());
    this.rate = new HandlerRate(settings.handlerRate(), time);
    this.gate = new StoreGate(() -> store.find(PROBE), store::writesAtOnce, lease, time);
  }

  /** The limit of records in flight. */
  public InFlightLimit limit() {
    return limit;
  }

  /** The gate to the lock store. */
  public StoreGate gate() {
    return gate;
  }

  /** The turns of records at what they touch. */
  public ResourceTurns turns() {
    return turns;
  }

  /** Why records wait and only one tries now and then; empty if they do not. */
  public Optional<String> downstreamFault() {
    return Optional.ofNullable(breaker.fault());
  }

  /** A record was heard just now to have ended without this instance. */
  public void endedElsewhere(Candidate record) {
    affinity.ended(record.grouping(), time.now().since(record.arrival()));
  }

  /** The way in for this record, which has passed nothing yet. */
  public Entry entry(Candidate record) {
    return new Entry(record);
  }

  /** What a record that asks to be admitted has to wait for, and how long at most. */
  public record Wait(WaitsFor what, Duration atMost) {}

  /** A checkpoint, and what a record says that it waits for there. */
  record Step(WaitsFor what, Function<Entry, Checkpoint> checkpoint) {
    /** A claim that may have been granted is asked about first: its lease would run out. */
    boolean sparesHolders() {
      return what == WaitsFor.RESOURCE || what == WaitsFor.DOWNSTREAM || what == WaitsFor.RATE;
    }
  }

  /** The way in of one record. Used by the record's own thread, but {@link #abandon}. */
  public final class Entry {
    private final Affinity.Courtesy headStart;
    private final ResourceTurns.Turn turn;
    private final Suspects.Suspect suspect = suspects.suspect();
    private final Breaker.Trial trial;
    private final InFlightLimit.Permit permit;
    private final HandlerRate.Slot slot;
    private final StoreGate.Request request;

    private Entry(Candidate record) {
      this.headStart =
          affinity.courtesy(record, () -> limit.isFull(record.usage()) || gate.isFull());
      this.turn = turns.turn(record);
      this.trial = breaker.trial(record);
      this.permit = limit.permit(record);
      this.slot = rate.slot(record);
      this.request = gate.request(record::isWanted);
    }

    /**
     * Passes what is still to be passed. Blocks at the gate, until the store can be asked. Where it
     * has to wait, it leaves what comes after that: it would be in the way of those who may go on.
     *
     * @param mayHold whether a claim that was sent may have been granted
     * @return what to wait for before it asks again; null if it is admitted, until it leaves
     */
    public @Nullable Wait pass(boolean mayHold) throws InterruptedException {
      for (Step step : ORDER) {
        if (!(mayHold && step.sparesHolders())) {
          Duration pause = step.checkpoint.apply(this).pass();
          if (pause != null) {
            leaveAfter(step);
            return new Wait(step.what, pause);
          }
        }
      }
      return null;
    }

    private void leaveAfter(Step step) {
      for (Step later : ORDER.subList(ORDER.indexOf(step) + 1, ORDER.size())) {
        later.checkpoint.apply(this).leave();
      }
    }

    /** The record was woken while it waited for this, and not as its time was up. */
    public void woken(WaitsFor what) {
      for (Step step : ORDER) {
        if (step.what == what) {
          step.checkpoint.apply(this).woken();
        }
      }
    }

    /** Leaves everything but its turn at what it touches. */
    public void leaveButTurn() {
      request.leave();
      slot.leave();
      permit.leave();
      trial.leave();
      suspect.leave();
    }

    /** Leaves everything. Calling it again has no effect. */
    public void leave() {
      leaveButTurn();
      turn.leave();
    }

    /**
     * The handler does not come back: others may have all that the record has, except its permit,
     * which it keeps until the handler does. Its lease was let go, so there is nothing to renew or
     * settle.
     */
    public void abandon() {
      request.leave();
      suspect.leave();
      trial.leave();
      turn.leave();
    }

    /** Its request to the store. */
    public StoreGate.Request request() {
      return request;
    }

    /** Its turn at what it touches. */
    public ResourceTurns.Turn turn() {
      return turn;
    }

    /** Its turn among the suspects. */
    public Suspects.Suspect suspect() {
      return suspect;
    }

    /** The handler of the record begins now. */
    public void begins() {
      slot.begins();
    }

    /** Its trial at the breaker, which is told by it how the record fared. */
    public Breaker.Trial trial() {
      return trial;
    }
  }
}
