package io.firstclaim.lock.board;

import org.jspecify.annotations.Nullable;

/**
 * What an item must be for a change to move it. Whoever moves an item out of a status that somebody
 * gave it says whose it is, so that nobody frees another's by accident.
 */
public sealed interface Expected<S extends Enum<S>> {
  /** The status from which the item moves. */
  S status();

  /**
   * The item is nobody's: it is in this status, whoever put it there.
   *
   * @param status the board's initial one, and no other: see {@link Transitions#initial()}
   */
  record Free<S extends Enum<S>>(S status) implements Expected<S> {}

  /**
   * The item is nobody's, or shared: it is in this status, or in the one that the change moves it
   * to, and those who have moved it there share it. It is not shared on the change's behalf yet,
   * and there is room for one more: {@value StoredItem#MAX_SHARES} can share an item.
   *
   * @param status the board's initial one, and no other
   */
  record Shareable<S extends Enum<S>>(S status) implements Expected<S> {}

  /**
   * Shared: it is in this status, and this editor shares it on this behalf. It stays in it until
   * nobody shares it any more.
   */
  record Shared<S extends Enum<S>>(S status, String editor, String lockedBy)
      implements Expected<S> {
    boolean isThis(Share share) {
      return share.editor().equals(editor) && share.lockedBy().equals(lockedBy);
    }
  }

  /**
   * Somebody's alone: it is in this status, put there by this editor and on this behalf.
   *
   * @param lockedBy on whose behalf; null for nobody's
   */
  record Held<S extends Enum<S>>(S status, String editor, @Nullable String lockedBy)
      implements Expected<S> {}

  /**
   * The item is as it was seen: no transition has moved it since, not even there and back. That is
   * how an operator frees what another left behind.
   */
  record Seen<S extends Enum<S>>(Item<S> item) implements Expected<S> {
    @Override
    public S status() {
      return item.status();
    }
  }
}
