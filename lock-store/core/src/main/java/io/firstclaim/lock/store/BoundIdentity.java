package io.firstclaim.lock.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Sha256;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * What a store keeps as its identity: a nonce, bound to the place where it was made. A backup that
 * is restored, or a copy, carries both with it and is in another place, by which it is known.
 *
 * @param nonce 32 hex digits
 * @param place what names the place, such as a table's ID; null if it is not bound yet, as those of
 *     earlier builds, which count wherever they are found
 */
public record BoundIdentity(String nonce, @Nullable String place) {
  private static final int BYTES = 16;

  /** The identity of what is kept here: the nonce itself, where it was made. */
  public String in(String here) {
    return place == null || place.equals(here)
        ? nonce
        : HexFormat.of().formatHex(Sha256.of((nonce + " in " + here).getBytes(UTF_8)), 0, BYTES);
  }
}
