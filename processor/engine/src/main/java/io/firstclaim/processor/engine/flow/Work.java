package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.identity.ClaimId;
import io.firstclaim.processor.engine.identity.Identity;
import io.firstclaim.processor.handler.RecordHandler;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to claim for a delivery, and what to do with it. A record that cannot be processed is
 * claimed too, under a stand-in, so that only one of two zones writes its dead letter.
 *
 * @param claimId under which the record is claimed
 * @param reportId the record's own ID, under which its outcome is published
 * @param fingerprint of its value
 * @param task what is done
 * @param deadKind as what giving it up is published
 * @param resources what it touches, claimed with it for its handler
 * @param redrive by which it is delivered again after it was given up; null for all others. Its old
 *     end may still be announced, so only the store's word ends it
 */
record Work(
    ClaimId claimId,
    RecordId reportId,
    Fingerprint fingerprint,
    Task task,
    Outcome.Kind deadKind,
    List<RecordId> resources,
    @Nullable RedriveId redrive) {

  /** The giving up of a record, for which it touches nothing. */
  private Work(
      ClaimId claimId,
      RecordId reportId,
      Fingerprint fingerprint,
      Task giveUp,
      Outcome.Kind deadKind,
      @Nullable RedriveId redrive) {
    this(claimId, reportId, fingerprint, giveUp, deadKind, List.of(), redrive);
  }

  /** What is done with a record. */
  sealed interface Task {
    /** A handler is called. */
    record Handle(RecordHandler handler) implements Task {}

    /** It is given up, for this reason. */
    record GiveUp(String cause) implements Task {}

    /**
     * It is given up, for this reason, as an attempt came to that; unless it was redriven since,
     * which makes an end of all that was said of it.
     *
     * @param attempts how many were made by then
     * @param attempted the work that the attempt was made on
     * @param freedBy the redrive that had last freed it by then; null if there was none
     */
    record GiveUpAfter(String cause, int attempts, Work attempted, @Nullable RedriveId freedBy)
        implements Task {}
  }

  static Work of(
      Identity identity,
      byte @Nullable [] value,
      RecordHandler handler,
      @Nullable RedriveId redrive) {
    Fingerprint fingerprint = value == null ? Fingerprint.none() : Fingerprint.of(value);
    return switch (identity) {
      case Identity.Found(RecordId id, List<RecordId> resources) ->
          new Work(
              ClaimId.of(id),
              id,
              fingerprint,
              new Task.Handle(handler),
              Outcome.Kind.DEAD,
              resources,
              redrive);
      case Identity.Unclaimable(RecordId id, String cause) ->
          givenUp(id, fingerprint, cause, redrive);
      case Identity.Missing(RecordId standIn, String cause) ->
          givenUp(standIn, fingerprint, cause, redrive);
    };
  }

  private static Work givenUp(
      RecordId id, Fingerprint fingerprint, String cause, @Nullable RedriveId redrive) {
    return new Work(
        ClaimId.of(id), id, fingerprint, new Task.GiveUp(cause), Outcome.Kind.DEAD, redrive);
  }

  /** The printable names of what it touches. */
  List<String> resourceNames() {
    return resources.isEmpty() ? List.of() : resources.stream().map(RecordId::text).toList();
  }

  /**
   * The same work once its verdict is in: its handler is not asked again.
   *
   * @param attempts how many were made
   * @param freedBy the redrive that had last freed it when it was attempted; null if there was none
   */
  Work givenUp(String cause, int attempts, @Nullable RedriveId freedBy) {
    return task instanceof Task.Handle
        ? new Work(
            claimId,
            reportId,
            fingerprint,
            new Task.GiveUpAfter(cause, attempts, this, freedBy),
            deadKind,
            redrive)
        : this;
  }

  /**
   * The work of giving this one up, as its ID is known with another payload: once for each payload.
   */
  Work mismatched(Fingerprint stored) {
    String cause =
        "the ID is known with another payload: SHA-256 %s there, %s here"
            .formatted(stored, fingerprint);
    return new Work(
        ClaimId.ofMismatch(reportId, fingerprint),
        reportId,
        fingerprint,
        new Task.GiveUp(cause),
        Outcome.Kind.MISMATCH,
        redrive);
  }
}
