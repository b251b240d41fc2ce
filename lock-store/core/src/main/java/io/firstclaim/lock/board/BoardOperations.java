package io.firstclaim.lock.board;

import io.firstclaim.lock.ContendedException;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/**
 * What operators may do to an item that is not theirs, without the program whose board it is: see
 * it, and move it. They have to know which status is right, as the store knows none of the board's
 * statuses and transitions.
 *
 * <p>Thread-safe. Every method may block for the client's time limit.
 */
public final class BoardOperations {
  private final BoardStore store;

  /** Operations on the board in this store. */
  public BoardOperations(BoardStore store) {
    this.store = store;
  }

  /**
   * An item, by a strongly consistent read; empty if nobody has ever moved it.
   *
   * @throws IllegalArgumentException if the key is empty, too long, or not to be written in UTF-8
   * @throws StoreUnavailableException if the store did not answer
   * @throws StoreRefusedException if it must not be read, or is no item of this board
   */
  public Optional<StoredItem> find(String key) {
    return store.read(List.of(ItemKey.of(key))).stream().findFirst();
  }

  /**
   * Moves an item, on nobody's behalf, if nobody has moved it since it was seen. All shares of it
   * end.
   *
   * @param status as its users name it; they refuse an item in one that they do not know, until it
   *     is moved again
   * @param editor who moves it, and why
   * @return the item as it is now
   * @throws IllegalArgumentException if status or editor is empty, too long, or not to be written
   *     in UTF-8
   * @throws ContendedException if it was not moved, as others move it
   * @throws StoreUnavailableException if the store did not answer; it may have been moved
   * @throws StoreRefusedException if it must not be written
   */
  public StoredItem move(StoredItem seen, String status, String editor) {
    BoardText.require("a status", status);
    BoardText.require("an editor", editor);
    Nonce change = Nonce.random();
    StoredItem next =
        StoredItem.moved(
            seen,
            seen.key(),
            status,
            editor,
            null,
            List.of(),
            store.now().truncatedTo(ChronoUnit.MILLIS),
            change);
    return switch (store.move(List.of(new Move(seen.change(), next)), null, Nonce.random())) {
      case MoveResult.Took unused -> next;
      case MoveResult.Differs unused -> moved(seen, change).orElseThrow(() -> contended(seen));
      case MoveResult.Conflict unused -> throw contended(seen);
      case MoveResult.Unknown(String why) ->
          moved(seen, change)
              .orElseThrow(
                  () ->
                      new StoreUnavailableException(
                          "not known whether item %s was moved: %s".formatted(seen.key(), why)));
    };
  }

  /** The item, if this change has moved it: its answer may have been lost. */
  private Optional<StoredItem> moved(StoredItem seen, Nonce change) {
    return find(seen.key().value()).filter(there -> there.changes().contains(change));
  }

  private static ContendedException contended(StoredItem seen) {
    return new ContendedException("others move item %s: look at it again".formatted(seen.key()));
  }
}
