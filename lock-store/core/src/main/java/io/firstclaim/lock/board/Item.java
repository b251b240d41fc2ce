package io.firstclaim.lock.board;

import io.firstclaim.lock.Nonce;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An item as it was read or written. All but its key and status is null, zero or empty if nobody
 * has ever moved it. Texts are as their editors gave them: escape them on a page, and use {@link
 * io.firstclaim.lock.OneLine} in a log.
 *
 * @param status where it is
 * @param editor who moved it last
 * @param lockedBy on whose behalf, such as the key of another item; null for nobody's, and while it
 *     is shared
 * @param shares who lock it together, who came first in front; none if it is not shared
 * @param since when, to the millisecond; see {@link BoardStore#now()}. For people: it decides
 *     nothing
 * @param token the number of the transition that moved it there: higher than those of all before,
 *     so that a sink which remembers the highest can refuse an editor who was freed
 * @param change names the transition that moved it there; no other transition has the same
 */
public record Item<S extends Enum<S>>(
    ItemKey key,
    S status,
    @Nullable String editor,
    @Nullable String lockedBy,
    List<Share> shares,
    @Nullable Instant since,
    long token,
    @Nullable Nonce change) {
  /** Copies the list. */
  public Item {
    shares = List.copyOf(shares);
  }

  /** An item that nobody has ever moved. */
  static <S extends Enum<S>> Item<S> untouched(ItemKey key, S initial) {
    return new Item<>(key, initial, null, null, List.of(), null, 0, null);
  }
}
