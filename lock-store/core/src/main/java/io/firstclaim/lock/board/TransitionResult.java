package io.firstclaim.lock.board;

import java.util.List;

/** What became of a transition. */
public sealed interface TransitionResult<S extends Enum<S>> {
  /**
   * All items have moved.
   *
   * @param items as they are now, in the order of the changes
   */
  record Moved<S extends Enum<S>>(List<Item<S>> items) implements TransitionResult<S> {
    /** Copies the list. */
    public Moved {
      items = List.copyOf(items);
    }
  }

  /**
   * No item has moved, nor will: at least one is not as expected.
   *
   * @param inTheWay every item that is not as expected, as it is, in the order of the changes
   */
  record Refused<S extends Enum<S>>(List<Item<S>> inTheWay) implements TransitionResult<S> {
    /** Copies the list. */
    public Refused {
      inTheWay = List.copyOf(inTheWay);
    }
  }

  /**
   * All items have moved, or none, or all may yet: the store did not say within the time limit. Ask
   * {@link StatusBoard#find} later; if they have moved, they bear the editor's name.
   *
   * @param why for a message, in one line
   */
  record Unknown<S extends Enum<S>>(String why) implements TransitionResult<S> {}
}
