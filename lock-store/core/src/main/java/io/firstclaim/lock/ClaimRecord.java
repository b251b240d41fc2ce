package io.firstclaim.lock;

/**
 * What a store keeps of one ID.
 *
 * @param token of the last grant
 * @param attempts grants so far
 * @param nonce of the last write
 * @param fingerprint of the payload
 * @param state where the claim stands
 */
public record ClaimRecord(
    long token, int attempts, Nonce nonce, Fingerprint fingerprint, ClaimState state) {
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
