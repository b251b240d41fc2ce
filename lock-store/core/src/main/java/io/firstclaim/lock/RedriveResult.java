package io.firstclaim.lock;

import org.jspecify.annotations.Nullable;

/** The answer to a {@linkplain ClaimOperations#redrive redrive} of one record. */
public sealed interface RedriveResult {
  /**
   * It was dead and is free. Deliver it again.
   *
   * @param token what is stored now has this one; the next grant has the next
   */
  record Freed(long token) implements RedriveResult {}

  /**
   * This very redrive has freed it before. If it is still free, it may never have been delivered
   * again: deliver it. If it is held, done or dead, somebody has claimed it since, and there is
   * nothing more to do.
   *
   * @param present what is stored
   */
  record FreedBefore(ClaimRecord present) implements RedriveResult {
    /** Whether it may never have been delivered again. */
    public boolean isFree() {
      return present.state() instanceof ClaimState.Free;
    }
  }

  /**
   * It is not dead; nothing was changed. One that is held may be about to be: its dead letter is
   * written before its end is recorded. One that the store does not know any more is new to it:
   * deliver it again, and it is processed.
   *
   * @param present what is stored; null for nothing
   */
  record NotDead(@Nullable ClaimRecord present) implements RedriveResult {}

  /** The ID is known with another payload, whose fingerprint this is; nothing was changed. */
  record Mismatch(Fingerprint storedFingerprint) implements RedriveResult {}
}
