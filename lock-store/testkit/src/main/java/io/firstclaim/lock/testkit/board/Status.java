package io.firstclaim.lock.testkit.board;

import io.firstclaim.lock.board.Transitions;
import java.util.Map;
import java.util.Set;

/** The status of a table: whoever edits one locks its parents. */
public enum Status {
  NORMAL,
  EDITING,
  LOCKED;

  /** From normal to either and back; an edited table may change hands. */
  public static final Transitions<Status> RULES =
      new Transitions<>(
          NORMAL,
          Map.of(
              NORMAL, Set.of(EDITING, LOCKED),
              EDITING, Set.of(NORMAL, EDITING),
              LOCKED, Set.of(NORMAL)));
}
