package io.firstclaim.lock;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256, which every Java platform has. */
public final class Sha256 {
  /** Is copied for each use: to look the algorithm up takes longer than to hash a record. */
  private static final MessageDigest FRESH = fresh();

  private Sha256() {}

  /** The hash of these bytes. */
  public static byte[] of(byte[] input) {
    return digest().digest(input);
  }

  /** A digest for input that comes in parts. For one thread. */
  public static MessageDigest digest() {
    try {
      return (MessageDigest) FRESH.clone();
    } catch (CloneNotSupportedException e) { // a provider that somebody has put first may not clone
      return fresh();
    }
  }

  private static MessageDigest fresh() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
