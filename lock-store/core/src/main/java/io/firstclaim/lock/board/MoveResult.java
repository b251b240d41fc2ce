package io.firstclaim.lock.board;

import java.util.List;

/** A store's answer to a request to write several items at once. */
public sealed interface MoveResult {
  /** All moves were written. */
  record Took() implements MoveResult {}

  /**
   * No move was written by this request; an earlier one with the same moves may have written all.
   *
   * @param present every item that is not the expected one, as it is; empty if the answer does not
   *     tell them all, so that they must be read
   */
  record Differs(List<StoredItem> present) implements MoveResult {
    /** Copies the list. */
    public Differs {
      present = List.copyOf(present);
    }
  }

  /**
   * No move was written, because others write some of the items just now: to be tried again.
   *
   * @param why for a message, in one line
   */
  record Conflict(String why) implements MoveResult {}

  /**
   * All moves were written, or none, or all may yet be.
   *
   * @param why for a message, in one line
   */
  record Unknown(String why) implements MoveResult {}
}
