package io.firstclaim.lock;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * 128 bits that name one write. A grant starts from a random nonce and every write under it takes
 * the {@link #next()} one, so no two bodies are ever equal, and a write that is repeated because
 * its answer was lost is recognised by its nonce.
 */
public record Nonce(long high, long low) {
  /** More than anybody makes under one grant: a thousand in each second of 34 years. */
  private static final long MOST_WRITES = 1L << 40;

  private static final SecureRandom RANDOM = new SecureRandom();

  /** A nonce that nobody has used. */
  public static Nonce random() {
    byte[] bits = new byte[16];
    RANDOM.nextBytes(bits);
    ByteBuffer buffer = ByteBuffer.wrap(bits);
    return new Nonce(buffer.getLong(), buffer.getLong());
  }

  /**
   * The nonce that {@link #toString()} printed.
   *
   * @throws IllegalArgumentException if it is not 32 hex digits
   */
  public static Nonce parse(String hex) {
    if (hex.length() != 32 || !hex.chars().allMatch(HexFormat::isHexDigit)) {
      throw new IllegalArgumentException(
          "a nonce is 32 hex digits, and these %d characters are not".formatted(hex.length()));
    }
    return new Nonce(
        HexFormat.fromHexDigitsToLong(hex, 0, 16), HexFormat.fromHexDigitsToLong(hex, 16, 32));
  }

  /** The nonce of the write that follows. */
  public Nonce next() {
    return new Nonce(high, low + 1);
  }

  /**
   * Whether this is the nonce of a write under the grant that began with that one: the grant's own,
   * or of one of the 2^40 after it.
   */
  public boolean isUnder(Nonce grant) {
    long writes = low - grant.low;
    return high == grant.high && writes >= 0 && writes <= MOST_WRITES;
  }

  /**
   * The last that is {@linkplain #isUnder under} the grant that begins with this one, before the
   * low half wraps around. As texts, too, all up to there lie between the two.
   */
  public Nonce lastUnder() {
    long last = low + MOST_WRITES;
    return new Nonce(high, Long.compareUnsigned(last, low) < 0 ? -1 : last);
  }

  /** 32 hex digits. */
  @Override
  public String toString() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(high) + hex.toHexDigits(low);
  }
}
