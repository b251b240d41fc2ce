package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Ending;
import io.firstclaim.processor.engine.api.Outcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How a look at a record ended, and what comes next. */
sealed interface Next {
  /** The record needs nothing more. */
  record Settled() implements Next {}

  /**
   * The record is to be looked at again.
   *
   * @param after how long, unless something is heard of it first
   * @param held what stands in the way, if a holder does
   */
  record LookAgain(Duration after, ClaimResult.@Nullable Held held) implements Next {}

  /**
   * Resources of the record are held; it is to be looked at again.
   *
   * @param after how long, unless something is heard of it or them first
   * @param answer what the store said
   */
  record Blocked(Duration after, ClaimResult.Blocked answer) implements Next {}

  /**
   * The record has ended, says the lock store, but nobody has announced it.
   *
   * @param atMost how long the announcement may still come; then it is made here
   */
  record Unannounced(Duration atMost, Outcome.Kind kind, Ending ending, @Nullable String cause)
      implements Next {}

  /** The lock store must answer first. */
  record WhenStoreAnswers() implements Next {}

  /**
   * The downstream was not there for it: it stays away this long, unless its end is heard, even if
   * another zone lets it go.
   */
  record Refused(Duration after) implements Next {}

  /** Something else is to be done with it. */
  record Instead(Work work) implements Next {}

  /** Another thread goes on with it. */
  record Abandoned() implements Next {}
}
