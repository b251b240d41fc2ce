package io.firstclaim.lock;

import org.jspecify.annotations.Nullable;

/**
 * One attempt to own a record. Sending the same claim again is safe and is how an attempt whose
 * answer never came is repeated: the store knows it by its nonce. Once an attempt has been
 * answered, the next one is a new claim.
 *
 * @param id the record
 * @param fingerprint of its payload
 * @param nonce names this attempt
 * @param start before the first send; a lease granted to this claim counts from here
 * @param sighting what the previous attempt saw, by which the claimant watches a holder whose clock
 *     it need not trust
 */
public record Claim(
    RecordId id, Fingerprint fingerprint, Nonce nonce, Moment start, @Nullable Sighting sighting) {

  /** A new attempt, to be sent now. */
  public static Claim of(RecordId id, Fingerprint fingerprint, Moment now) {
    return new Claim(id, fingerprint, Nonce.random(), now, null);
  }

  /** The attempt after one that was answered {@code held}. */
  public static Claim after(ClaimResult.Held held, Claim previous, Moment now) {
    return new Claim(previous.id, previous.fingerprint, Nonce.random(), now, held.sighting());
  }
}
