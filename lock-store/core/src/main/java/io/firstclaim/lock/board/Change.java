package io.firstclaim.lock.board;

import io.firstclaim.lock.Nonce;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The move of one item, on the condition that the item is as expected.
 *
 * @param target the status that it moves to; of one who lets go of a share, once nobody shares the
 *     item any more
 * @param editor who moves it; text of 1 to 256 bytes
 * @param lockedBy on whose behalf, such as the key of another item; null for nobody's; text of 1 to
 *     256 bytes
 */
public record Change<S extends Enum<S>>(
    ItemKey key, Expected<S> expected, S target, String editor, @Nullable String lockedBy) {

  /**
   * Checks the texts.
   *
   * @throws IllegalArgumentException if one is empty, too long, or not to be written in UTF-8, or
   *     an item is to be shared on nobody's behalf
   */
  public Change {
    BoardText.require("an editor", editor);
    if (lockedBy == null) {
      if (expected instanceof Expected.Shareable<S>) {
        throw new IllegalArgumentException("%s is shared on nobody's behalf".formatted(key));
      }
    } else {
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

  /**
   * Takes an item together with others: it moves to {@code to} with the first of them, and those
   * who come later join.
   *
   * @param from the board's initial status
   * @param lockedBy on whose behalf, such as the key of another item
   */
  public static <S extends Enum<S>> Change<S> ofShared(
      String key, S from, S to, String editor, String lockedBy) {
    return new Change<>(ItemKey.of(key), new Expected.Shareable<>(from), to, editor, lockedBy);
  }

  /**
   * Lets go of an item that this editor shares on behalf of {@code lockedBy}: it moves to {@code
   * to} with the last of those who share it.
   */
  public static <S extends Enum<S>> Change<S> ofOwnShare(
      String key, S from, S to, String editor, String lockedBy) {
    return new Change<>(
        ItemKey.of(key), new Expected.Shared<>(from, editor, lockedBy), to, editor, null);
  }

  /**
   * Moves an item, whoever it belongs to, if nobody has moved it since it was seen; all shares end.
   */
  public static <S extends Enum<S>> Change<S> ofSeen(Item<S> seen, S to, String editor) {
    return new Change<>(seen.key(), new Expected.Seen<>(seen), to, editor, null);
  }

  /** The same move, on behalf of this, such as the key of another item. */
  public Change<S> onBehalfOf(String behalf) {
    return new Change<>(key, expected, target, editor, behalf);
  }

  /**
   * Whether an item is as expected.
   *
   * @param there null if nobody has ever moved it
   * @param initial the status that it has then
   */
  boolean isMetBy(@Nullable StoredItem there, S initial) {
    String status = there == null ? initial.name() : there.status();
    boolean isThere = status.equals(expected.status().name());
    return switch (expected) {
      case Expected.Free<S> unused -> isThere;
      case Expected.Shareable<S> unused ->
          isThere || (there != null && status.equals(target.name()) && canJoin(there.shares()));
      case Expected.Shared<S> own ->
          isThere && there != null && there.shares().stream().anyMatch(own::isThis);
      case Expected.Held<S> held ->
          isThere
              && there != null
              && there.shares().isEmpty()
              && there.editor().equals(held.editor())
              && Objects.equals(there.lockedBy(), held.lockedBy());
      case Expected.Seen<S> seen ->
          isThere && Objects.equals(there == null ? null : there.change(), seen.item().change());
    };
  }

  /** Without a share, the item is somebody's alone. */
  private boolean canJoin(List<Share> shares) {
    return !shares.isEmpty()
        && shares.size() < StoredItem.MAX_SHARES
        && shares.stream().noneMatch(one -> one.lockedBy().equals(lockedBy));
  }

  /**
   * The item that this makes of one that is as expected.
   *
   * @param since now, in whole milliseconds
   */
  StoredItem next(@Nullable StoredItem there, Instant since, Nonce change) {
    Stream<Share> before = there == null ? Stream.empty() : there.shares().stream();
    List<Share> shares =
        switch (expected) {
          case Expected.Shareable<S> unused ->
              Stream.concat(
                      before, Stream.of(new Share(Objects.requireNonNull(lockedBy), editor, since)))
                  .toList();
          case Expected.Shared<S> own -> before.filter(one -> !own.isThis(one)).toList();
          case Expected.Free<S> unused -> List.of();
          case Expected.Held<S> unused -> List.of();
          case Expected.Seen<S> unused -> List.of();
        };
    boolean staysShared = expected instanceof Expected.Shared<S> && !shares.isEmpty();
    S status = staysShared ? expected.status() : target;
    String behalf = shares.isEmpty() ? lockedBy : null;
    return StoredItem.moved(there, key, status.name(), editor, behalf, shares, since, change);
  }
}
