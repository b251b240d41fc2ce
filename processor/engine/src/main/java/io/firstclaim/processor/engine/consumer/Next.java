package io.firstclaim.processor.engine.consumer;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Ending;
import io.firstclaim.processor.engine.outcome.Outcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How a look at a record ended, and what comes next. */
sealed interface Next {
  /** The record needs nothing more. */
  record Settled() implements Next {}

  /**
   * The record is to be looked at again.
   *
   * @param after this time, unless something is heard of it before
   * @param held what stands in the way, if a holder does
   */
  record LookAgain(Duration after, ClaimResult.@Nullable Held held) implements Next {}

  /**
   * The record has ended, as the lock store says, but nobody said so.
   *
   * @param atMost how long that may still be heard; then it is announced here
   */
  record Unannounced(Duration atMost, Outcome.Kind kind, Ending ending, @Nullable String cause)
      implements Next {}

  /** The lock store must answer first. */
  record WhenStoreAnswers() implements Next {}

  /** Something else is to be done with it. */
  record Instead(Work work) implements Next {}

  /** Another thread goes on with it. */
  record Abandoned() implements Next {}
}
