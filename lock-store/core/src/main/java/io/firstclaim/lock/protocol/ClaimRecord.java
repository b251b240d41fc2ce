package io.firstclaim.lock.protocol;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Nonce;

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
    long token, int attempts, Nonce nonce, Fingerprint fingerprint, ClaimState state) {}
