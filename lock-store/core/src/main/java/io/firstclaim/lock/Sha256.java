package io.firstclaim.lock;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256, which every Java platform has. */
final class Sha256 {
  private Sha256() {}

  static byte[] of(byte[] input) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(input);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
