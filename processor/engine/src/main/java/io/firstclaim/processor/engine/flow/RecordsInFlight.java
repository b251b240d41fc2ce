package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.admission.ResourceTurns;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.Mode;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.api.EngineSettings.Trust;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.identity.ClaimId;
import io.firstclaim.processor.engine.intake.AssignedPartition;
import io.firstclaim.processor.engine.outcome.KnownDone;
import io.firstclaim.processor.engine.outcome.OutcomeFeed;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The records that this instance works on, one for each ID: of several deliveries of one record,
 * one asks the lock store and the others follow it. Wakes each by what is heard of it from other
 * instances. Thread-safe.
 */
public final class RecordsInFlight implements OutcomeFeed.OutcomeListener {
  private final ConcurrentMap<ClaimId, RecordInFlight> records = new ConcurrentHashMap<>();
  private final ResourceTurns turns;
  private final KnownDone known;
  private final BooleanSupplier hearsOutcomes;
  private final Trust trust;
  private final Ordering ordering;
  private final Mode mode;

  /**
   * No records yet.
   *
   * @param turns of records at what they touch; is told when others have done with it
   * @param known the records whose end was announced
   * @param hearsOutcomes whether what the others announce is heard at once
   */
  public RecordsInFlight(
      EngineSettings settings,
      ResourceTurns turns,
      KnownDone known,
      BooleanSupplier hearsOutcomes) {
    this.turns = turns;
    this.known = known;
    this.hearsOutcomes = hearsOutcomes;
    this.trust = settings.outcomesTrust();
    this.ordering = settings.input().ordering();
    this.mode = settings.mode();
  }

  /** What the records are ordered by. */
  Ordering ordering() {
    return ordering;
  }

  /** Whether one delivery may be settled with another: in shadow mode each is to be told apart. */
  boolean mayBeTwins() {
    return mode == Mode.PROCESS;
  }

  /**
   * Takes a record in; returns null if it is the only one of its ID, else the one that was first.
   */
  @Nullable RecordInFlight enter(RecordInFlight record) {
    return records.putIfAbsent(record.work().claimId(), record);
  }

  /** The record is worked on no more. */
  void remove(RecordInFlight record) {
    records.remove(record.work().claimId(), record);
  }

  /** The records that are there now, without those that follow them. */
  Collection<RecordInFlight> all() {
    return Collections.unmodifiableCollection(records.values());
  }

  /** Wakes the record that has this outcome, and those that wait for what it touched. */
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
      case COMPLETED, DEAD -> signal(ClaimId.of(id), Signal.ENDED);
      case MISMATCH -> signal(ClaimId.ofMismatch(id, payload), Signal.ENDED);
      case FAILED -> {
        Instant retryAt = outcome.retryAt();
        RecordInFlight record = records.get(ClaimId.of(id));
        if (retryAt != null && record != null && record.work().fingerprint().equals(payload)) {
          record.signal(new Signal.DueIn(Duration.between(outcome.at(), retryAt)));
        }
      }
      case TAKEN_OVER, LEASE_LOST, BLOCKED -> {}
    }
  }

  /** Wakes the one that is worked on under this ID, if any. */
  void signal(ClaimId id, Signal signal) {
    RecordInFlight record = records.get(id);
    if (record != null) {
      record.signal(signal);
    }
  }

  /** Stops those of this partition. Returns those of them that only followed another, taken out. */
  List<RecordInFlight> stop(AssignedPartition partition) {
    List<RecordInFlight> followers = new ArrayList<>();
    for (RecordInFlight record : records.values()) {
      if (record.delivery().partition().equals(partition)) {
        record.signal(Signal.STOP);
      }
      followers.addAll(
          record.takeOut(follower -> follower.delivery().partition().equals(partition)));
    }
    return followers;
  }

  /** Stops all; those that follow another wait for what becomes of it. */
  void stopAll() {
    records.values().forEach(record -> record.signal(Signal.STOP));
  }

  /**
   * Whether the end of this work was announced, and that is enough: not for what was redriven, as
   * that may be the end that it was freed from.
   */
  boolean knowEndOf(Work work) {
    return trust == Trust.TOPIC
        && work.redrive() == null
        && known.contains(work.reportId(), work.fingerprint());
  }

  /** Whether this end would be known here if it had been announced, and is not. */
  boolean miss(Work work, Ending ending) {
    return hearOutcomes()
        && ending.at().isAfter(known.horizon())
        && !known.contains(work.reportId(), work.fingerprint(), ending.token());
  }

  /** The store says that this work lives, under a lease with this token. */
  void lives(Work work, long token) {
    if (work.redrive() != null) {
      known.lives(work.reportId(), work.fingerprint(), token);
    }
  }

  /** Whether what the others announce is heard at once. */
  boolean hearOutcomes() {
    return hearsOutcomes.getAsBoolean();
  }
}
