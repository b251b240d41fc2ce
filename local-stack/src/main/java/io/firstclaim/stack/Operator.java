package io.firstclaim.stack;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * Somebody who may change something in the zones of this run.
 *
 * @param token what they show
 */
record Operator(String token) {
  private static final int BYTES = 16;

  /** One whose token nobody else knows. */
  static Operator make() {
    byte[] random = new byte[BYTES];
    new SecureRandom().nextBytes(random);
    return new Operator(HexFormat.of().formatHex(random));
  }

  /** Writes a token file into this directory; returns its path. */
  String writtenTo(Path directory) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(token.getBytes(UTF_8));
      Path file = directory.resolve("tokens");
      return Files.writeString(
              file, "operator operator %s%n".formatted(HexFormat.of().formatHex(hash)))
          .toString();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    } catch (IOException e) {
      throw new JobFailure("the token file cannot be written: " + e.getMessage(), e);
    }
  }
}
