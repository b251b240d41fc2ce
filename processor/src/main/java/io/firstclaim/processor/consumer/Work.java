package io.firstclaim.processor.consumer;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.processor.identity.Identity;
import io.firstclaim.processor.outcome.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * What is to be claimed for a delivery, and done with it. A record that cannot be processed is
 * claimed too, under a stand-in, so that of two zones one writes its dead letter.
 *
 * @param claimId under which the record is claimed
 * @param reportId under which its outcome is published
 * @param fingerprint of its value
 * @param handler what is done
 * @param deadKind how being given up is published
 */
record Work(
    RecordId claimId,
    RecordId reportId,
    Fingerprint fingerprint,
    RecordHandler handler,
    Outcome.Kind deadKind) {

  static Work of(Identity identity, byte @Nullable [] value, RecordHandler handler) {
    Fingerprint fingerprint = value == null ? Fingerprint.none() : Fingerprint.of(value);
    return switch (identity) {
      case Identity.Found(RecordId id) -> new Work(id, id, fingerprint, handler, Outcome.Kind.DEAD);
      case Identity.Missing(RecordId standIn, String cause) ->
          new Work(
              standIn,
              standIn,
              fingerprint,
              _ -> new HandlerResult.Failed(cause),
              Outcome.Kind.DEAD);
    };
  }

  /** Giving up this work, whose ID is known with another payload: once for each payload. */
  Work mismatched(Fingerprint stored) {
    String cause =
        "the ID is known with another payload: SHA-256 %s there, %s here"
            .formatted(stored, fingerprint);
    RecordId standIn =
        RecordId.of("mismatch:%s:%s".formatted(claimId.key("mismatch"), fingerprint));
    return new Work(
        standIn,
        reportId,
        fingerprint,
        _ -> new HandlerResult.Failed(cause),
        Outcome.Kind.MISMATCH);
  }
}
