package io.firstclaim.lock;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The answer to a claim. */
public sealed interface ClaimResult {
  /**
   * The caller owns the record.
   *
   * @param lease the grant
   * @param takenFrom whose lease was over and is taken over, if any
   */
  record Granted(Lease lease, @Nullable String takenFrom) implements ClaimResult {}

  /**
   * Somebody holds a lease on it.
   *
   * @param by the holder
   * @param token its token
   * @param remaining how long until it is worth asking again, at the latest: the lease may be over
   *     then
   * @param sighting to pass with the next claim
   */
  record Held(String by, long token, Duration remaining, Sighting sighting)
      implements ClaimResult {}

  /**
   * An attempt failed and the next one is not due yet.
   *
   * @param retryAt when it is due, by this machine's clock
   * @param attempts how many there were
   */
  record Later(Instant retryAt, int attempts) implements ClaimResult {}

  /**
   * It is done.
   *
   * @param ending by whom and when
   * @param result what was stored with the completion, if anything
   */
  record Done(Ending ending, @Nullable String result) implements ClaimResult {}

  /**
   * It was given up as dead; its dead letter has been written.
   *
   * @param ending by whom and when
   * @param cause why
   */
  record Dead(Ending ending, String cause) implements ClaimResult {}

  /** The ID is known with another payload, whose fingerprint this is. */
  record Mismatch(Fingerprint storedFingerprint) implements ClaimResult {}
}
