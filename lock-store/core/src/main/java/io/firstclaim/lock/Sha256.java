package io.firstclaim.lock;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256, which every Java platform has. */
public final class Sha256 {
  private Sha256() {}

  /** The hash of these bytes. */
  public static byte[] of(byte[] input) {
    return digest().digest(input);
  }

  /** A digest for input that comes in parts. For one thread. */
  public static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
