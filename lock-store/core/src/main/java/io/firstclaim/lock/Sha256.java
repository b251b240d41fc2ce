package io.firstclaim.lock;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256, which every Java platform has. */
public final class Sha256 {
  private static final int BUFFER_BYTES = 1 << 16;

  private Sha256() {}

  /** The 32 bytes of the hash of these bytes. */
  public static byte[] of(byte[] input) {
    return digest().digest(input);
  }

  /** The same of all that is left in a stream, which it does not close. */
  public static byte[] of(InputStream input) throws IOException {
    MessageDigest digest = digest();
    byte[] buffer = new byte[BUFFER_BYTES];
    for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
      digest.update(buffer, 0, length);
    }
    return digest.digest();
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
