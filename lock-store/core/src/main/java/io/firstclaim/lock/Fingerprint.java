package io.firstclaim.lock;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * The SHA-256 of a record's payload, kept with the claim: for the same ID with another payload the
 * answer is {@link ClaimResult.Mismatch}, so that it is not mistaken for a duplicate. Immutable.
 */
public final class Fingerprint {
  private static final Fingerprint NONE = new Fingerprint(new byte[0]);

  private final byte[] hash;

  private Fingerprint(byte[] hash) {
    this.hash = hash;
  }

  /** The fingerprint of this payload. */
  public static Fingerprint of(byte[] payload) {
    return new Fingerprint(Sha256.of(payload));
  }

  /** The fingerprint of claims without a payload, such as plain locks. */
  public static Fingerprint none() {
    return NONE;
  }

  /**
   * The fingerprint that {@link #hash()} gave.
   *
   * @throws IllegalArgumentException if it has neither 32 bytes nor none
   */
  public static Fingerprint ofHash(byte[] hash) {
    if (hash.length != 32 && hash.length != 0) {
      throw new IllegalArgumentException(
          "a fingerprint has 32 bytes or none, this one " + hash.length);
    }
    return hash.length == 0 ? NONE : new Fingerprint(hash.clone());
  }

  /** A copy of the 32 bytes, or of none. */
  public byte[] hash() {
    return hash.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Fingerprint that && Arrays.equals(hash, that.hash);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(hash);
  }

  @Override
  public String toString() {
    return HexFormat.of().formatHex(hash);
  }
}
