package io.firstclaim.processor.engine.consumer;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.identity.Identity;
import io.firstclaim.processor.engine.outcome.Outcome;
import io.firstclaim.processor.handler.RecordHandler;
import org.jspecify.annotations.Nullable;

/**
 * What is to be claimed for a delivery, and done with it. A record that cannot be processed is
 * claimed too, under a stand-in, so that of two zones one writes its dead letter.
 *
 * @param claimId under which the record is claimed
 * @param reportId under which its outcome is published
 * @param fingerprint of its value
 * @param task what is done
 * @param deadKind how being given up is published
 */
record Work(
    RecordId claimId,
    RecordId reportId,
    Fingerprint fingerprint,
    Task task,
    Outcome.Kind deadKind) {

  /** What is done with a record. */
  sealed interface Task {
    /** A handler is called. */
    record Handle(RecordHandler handler) implements Task {}

    /** It is given up, for this reason. */
    record GiveUp(String cause) implements Task {}
  }

  static Work of(Identity identity, byte @Nullable [] value, RecordHandler handler) {
    Fingerprint fingerprint = value == null ? Fingerprint.none() : Fingerprint.of(value);
    return switch (identity) {
      case Identity.Found(RecordId id) ->
          new Work(id, id, fingerprint, new Task.Handle(handler), Outcome.Kind.DEAD);
      case Identity.Missing(RecordId standIn, String cause) ->
          new Work(standIn, standIn, fingerprint, new Task.GiveUp(cause), Outcome.Kind.DEAD);
    };
  }

  /** The same, once the verdict has fallen: its handler is not asked again. */
  Work givenUp(String cause) {
    return new Work(claimId, reportId, fingerprint, new Task.GiveUp(cause), deadKind);
  }

  /** Giving up this work, whose ID is known with another payload: once for each payload. */
  Work mismatched(Fingerprint stored) {
    String cause =
        "the ID is known with another payload: SHA-256 %s there, %s here"
            .formatted(stored, fingerprint);
    return new Work(
        mismatchOf(reportId, fingerprint),
        reportId,
        fingerprint,
        new Task.GiveUp(cause),
        Outcome.Kind.MISMATCH);
  }

  /** Under which a record is given up whose ID is known with another payload than this. */
  static RecordId mismatchOf(RecordId id, Fingerprint payload) {
    return RecordId.of("mismatch:%s:%s".formatted(id.key("mismatch"), payload));
  }
}
