package io.firstclaim.lock.board;

import io.firstclaim.lock.Nonce;
import org.jspecify.annotations.Nullable;

/**
 * The write of one item, on the condition that its last change is the expected one.
 *
 * @param on the {@link StoredItem#change()} that it must have; null if it must not be there
 * @param next what is written
 */
public record Move(@Nullable Nonce on, StoredItem next) {
  /** The item that it moves. */
  public ItemKey key() {
    return next.key();
  }

  /** Whether it can still be applied where this is there. */
  public boolean matches(@Nullable StoredItem there) {
    return there == null ? on == null : there.change().equals(on);
  }
}
