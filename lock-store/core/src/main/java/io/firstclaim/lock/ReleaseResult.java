package io.firstclaim.lock;

import org.jspecify.annotations.Nullable;

/** The answer to an operator's {@linkplain ClaimOperations#release release}. */
public sealed interface ReleaseResult {
  /**
   * It was held and is free.
   *
   * @param before what was stored, with its holder
   * @param after what is stored now
   */
  record Released(ClaimRecord before, ClaimRecord after) implements ReleaseResult {}

  /**
   * It is not held, or by another grant than when it was first looked at; nothing was changed.
   *
   * @param present what is stored; null for nothing
   */
  record NotReleased(@Nullable ClaimRecord present) implements ReleaseResult {}
}
