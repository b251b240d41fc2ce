package io.firstclaim.processor.engine.identity;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;

/**
 * The ID under which a record is claimed. As a rule it is the record's own; a record that is to be
 * given up because its ID is known with another payload is claimed under a stand-in. Outcomes, dead
 * letters and logs always use the record's own {@link RecordId}, and this type keeps the two apart.
 *
 * @param inStore the key in the lock store
 */
public record ClaimId(RecordId inStore) {
  /** The ID of a record that is claimed under its own ID, or under one that stands in for it. */
  public static ClaimId of(RecordId id) {
    return new ClaimId(id);
  }

  /**
   * The ID for giving up a record whose ID is known with another payload than this; one for each
   * payload.
   */
  public static ClaimId ofMismatch(RecordId id, Fingerprint payload) {
    return new ClaimId(RecordId.of("mismatch:%s:%s".formatted(id.key("mismatch"), payload)));
  }

  /** A new claim, to be sent now. */
  public Claim claim(Fingerprint payload, Moment now) {
    return Claim.of(inStore, payload, now);
  }
}
