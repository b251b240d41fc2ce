package io.firstclaim.lock;

import org.jspecify.annotations.Nullable;

/** The answer to a step under a lease (renew, complete, release, bury). */
public sealed interface SettleResult {
  /**
   * The step is recorded.
   *
   * @param lease the lease as it stands after the step: after a renewal, the one to go on with
   */
  record Settled(Lease lease) implements SettleResult {}

  /**
   * The lease is no longer the caller's; nothing was recorded.
   *
   * @param by who has the record now, if anybody
   */
  record Lost(@Nullable String by) implements SettleResult {}

  /**
   * The store could not be asked, or did not answer: the step may or may not be recorded. Repeat it
   * with the same lease; a repeated step is recognised.
   *
   * @param why for the log
   */
  record Unknown(String why) implements SettleResult {}
}
