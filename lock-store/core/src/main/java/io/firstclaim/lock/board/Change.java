package io.firstclaim.lock.board;

import org.jspecify.annotations.Nullable;

/**
 * The move of one item, on the condition that the item is as expected.
 *
 * @param target the status that it moves to
 * @param editor who moves it; text of 1 to 256 bytes
 * @param lockedBy on whose behalf, such as the key of another item; null for nobody's; text of 1 to
 *     256 bytes
 */
public record Change<S extends Enum<S>>(
    ItemKey key, Expected<S> expected, S target, String editor, @Nullable String lockedBy) {

  /**
   * Checks the texts.
   *
   * @throws IllegalArgumentException if one is empty, too long, or not to be written in UTF-8
   */
  public Change {
    BoardText.require("an editor", editor);
    if (lockedBy != null) {
      BoardText.require("what an item is locked by", lockedBy);
    }
  }

  /**
   * Takes an item that nobody holds.
   *
   * @param from the board's initial status
   */
  public static <S extends Enum<S>> Change<S> ofFree(String key, S from, S to, String editor) {
    return new Change<>(ItemKey.of(key), new Expected.Free<>(from), to, editor, null);
  }

  /** Moves an item that this editor has moved to {@code from}, on nobody's behalf. */
  public static <S extends Enum<S>> Change<S> ofOwn(String key, S from, S to, String editor) {
    return new Change<>(ItemKey.of(key), new Expected.Held<>(from, editor, null), to, editor, null);
  }

  /** Moves an item that this editor has moved to {@code from} on behalf of {@code lockedBy}. */
  public static <S extends Enum<S>> Change<S> ofOwn(
      String key, S from, S to, String editor, String lockedBy) {
    return new Change<>(
        ItemKey.of(key), new Expected.Held<>(from, editor, lockedBy), to, editor, null);
  }

  /** Moves an item, whoever it belongs to, if nobody has moved it since it was seen. */
  public static <S extends Enum<S>> Change<S> ofSeen(Item<S> seen, S to, String editor) {
    return new Change<>(seen.key(), new Expected.Seen<>(seen), to, editor, null);
  }

  /** The same move, on behalf of this, such as the key of another item. */
  public Change<S> onBehalfOf(String behalf) {
    return new Change<>(key, expected, target, editor, behalf);
  }
}
