package io.firstclaim.lock.deduplicator;

import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** How {@link Deduplicator#run} ended. */
public sealed interface RunResult {
  /**
   * The work ran here and now, and its result is stored.
   *
   * @param result what it returned
   */
  record Ran(@Nullable String result) implements RunResult {}

  /**
   * It was done before; nothing ran.
   *
   * @param ending by whom and when
   * @param result what it returned then
   */
  record DoneBefore(Ending ending, @Nullable String result) implements RunResult {}

  /**
   * Somebody else is at it; nothing ran.
   *
   * @param by who
   * @param remaining how long until it is worth asking again, at the latest
   */
  record Busy(String by, Duration remaining) implements RunResult {}

  /**
   * It failed before and is not due again yet; nothing ran.
   *
   * @param retryAt when it is, by this machine's clock
   * @param attempts how many there were
   */
  record NotDue(Instant retryAt, int attempts) implements RunResult {}

  /**
   * It is given up: nobody will run it again under this ID. Either that was recorded before, and
   * nothing ran, or this was the last attempt and it failed.
   *
   * @param ending by whom and when it was given up
   * @param cause why
   * @param thrown by this last attempt; null if nothing ran
   */
  record GivenUp(Ending ending, String cause, @Nullable Throwable thrown) implements RunResult {
    /** Given up before; nothing ran. */
    public GivenUp(Ending ending, String cause) {
      this(ending, cause, null);
    }
  }

  /**
   * The ID is known with another payload; nothing ran.
   *
   * @param stored the fingerprint of that payload
   */
  record OtherPayload(Fingerprint stored) implements RunResult {}

  /**
   * The work threw and is to be tried again, by whoever comes once it is due.
   *
   * @param retryAt when it is, by this machine's clock
   * @param attempts how many there were, this one included
   * @param cause what it threw
   */
  record AttemptFailed(Instant retryAt, int attempts, Throwable cause) implements RunResult {}

  /**
   * The lease was lost before the work was recorded: no result is stored, and somebody else may do
   * the work again.
   *
   * @param by who has the record now, if anybody is known to
   * @param thrown by the work; null if it ran to its end, or not at all
   */
  record LeaseLost(@Nullable String by, @Nullable Throwable thrown) implements RunResult {
    /** Lost, and nothing was thrown. */
    public LeaseLost(@Nullable String by) {
      this(by, null);
    }
  }

  /**
   * The work ran, and returned or threw, but the lease was over before the store said whether that
   * is recorded: run it again to find out.
   *
   * @param why for the log
   * @param thrown by the work; null if it ran to its end
   */
  record Unknown(String why, @Nullable Throwable thrown) implements RunResult {
    /** Not known, and nothing was thrown. */
    public Unknown(String why) {
      this(why, null);
    }
  }
}
