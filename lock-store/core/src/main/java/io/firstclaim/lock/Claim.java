package io.firstclaim.lock;

import java.time.Instant;
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
 * @param mutex whether the ID is that of a mutex
 */
public record Claim(
    RecordId id,
    Fingerprint fingerprint,
    Nonce nonce,
    Moment start,
    @Nullable Sighting sighting,
    boolean mutex) {

  /** A claim on a record. */
  public Claim(
      RecordId id,
      Fingerprint fingerprint,
      Nonce nonce,
      Moment start,
      @Nullable Sighting sighting) {
    this(id, fingerprint, nonce, start, sighting, false);
  }

  /** A new attempt, to be sent now. */
  public static Claim of(RecordId id, Fingerprint fingerprint, Moment now) {
    return new Claim(id, fingerprint, Nonce.random(), now, null);
  }

  /** A new attempt to own a mutex, to be sent now. */
  public static Claim ofMutex(RecordId id, Moment now) {
    return new Claim(id, Fingerprint.none(), Nonce.random(), now, null, true);
  }

  /** The attempt after one that was answered {@code held}. */
  public static Claim after(ClaimResult.Held held, Claim previous, Moment now) {
    return new Claim(
        previous.id, previous.fingerprint, Nonce.random(), now, held.sighting(), previous.mutex);
  }

  /**
   * The token it is granted if the store does not know the ID. A record's tokens begin at 1. Those
   * of a mutex begin with the time, in milliseconds since 1970, as it may be wanted again long
   * after the store has forgotten it: as no mutex is granted a thousand times a second for long,
   * that is more than any token it ever had.
   *
   * @param now by the store's clock
   */
  public long firstToken(Instant now) {
    return mutex ? now.toEpochMilli() : 1;
  }
}
