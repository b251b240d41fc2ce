package io.firstclaim.lock;

import org.jspecify.annotations.Nullable;

/**
 * What a store keeps of one ID.
 *
 * @param token of the last grant
 * @param attempts grants so far, since the last redrive
 * @param nonce of the last write
 * @param fingerprint of the payload
 * @param state where the claim stands
 * @param redrive the redrive that last freed it from its end; null if none did
 */
public record ClaimRecord(
    long token,
    int attempts,
    Nonce nonce,
    Fingerprint fingerprint,
    ClaimState state,
    @Nullable RedriveId redrive) {
  private static final long MOST = Long.MAX_VALUE / 2;
  private static final int MOST_ATTEMPTS = Integer.MAX_VALUE / 2;

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if no grant has ever left them
   */
  public ClaimRecord {
    if (token < 1 || attempts < 0) {
      throw new IllegalArgumentException(
          "token %d with %d attempts was never granted".formatted(token, attempts));
    }
  }

  /** What was never redriven. */
  public ClaimRecord(
      long token, int attempts, Nonce nonce, Fingerprint fingerprint, ClaimState state) {
    this(token, attempts, nonce, fingerprint, state, null);
  }

  /**
   * This record, if there is room for more grants after it. For what is read from a store: whoever
   * may write there can have written any number.
   *
   * @throws IllegalArgumentException if nobody was ever granted so much
   */
  public ClaimRecord requireRoom() {
    if (token > MOST || attempts > MOST_ATTEMPTS) {
      throw new IllegalArgumentException(
          "token %d with %d attempts leaves no room for another grant".formatted(token, attempts));
    }
    return this;
  }

  /**
   * Which attempt a grant over this record is for. What is never done, such as a mutex, may be
   * granted more often than there is a number for: it stays at the last.
   */
  public int nextAttempt() {
    return attempts < MOST_ATTEMPTS ? attempts + 1 : attempts;
  }

  /**
   * Whether both were left by one write: they have one token, one nonce and one kind of state. What
   * a lease knows of its last write may differ in the rest.
   */
  public boolean isOfOneWriteWith(ClaimRecord other) {
    return token == other.token
        && nonce.equals(other.nonce)
        && state.getClass() == other.state.getClass();
  }
}
