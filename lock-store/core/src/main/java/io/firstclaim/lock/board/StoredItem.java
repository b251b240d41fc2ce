package io.firstclaim.lock.board;

import io.firstclaim.lock.Nonce;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An item as a store keeps it, once somebody has moved it.
 *
 * @param status the name of its status
 * @param editor who moved it there
 * @param lockedBy on whose behalf; null for nobody's, and while it is shared
 * @param shares who lock it together, who came first in front; none if it is not shared, at most
 *     {@value #MAX_SHARES}
 * @param since when, in whole milliseconds
 * @param token the number of this move; the next has a higher one
 * @param changes the last transitions that moved it, the newest first, at least one and at most
 *     {@value #MAX_CHANGES}: by them a writer whose answer was lost recognises its own
 */
public record StoredItem(
    ItemKey key,
    String status,
    String editor,
    @Nullable String lockedBy,
    List<Share> shares,
    Instant since,
    long token,
    List<Nonce> changes) {

  /**
   * As many as can be written with a hundred items in one transaction of 4 MB, however long their
   * texts are.
   */
  public static final int MAX_SHARES = 32;

  /** As many as can hardly follow each other while one writer waits for an answer. */
  public static final int MAX_CHANGES = 16;

  /**
   * Copies the lists.
   *
   * @throws IllegalArgumentException if there is no change, or more than {@value #MAX_CHANGES}, or
   *     more than {@value #MAX_SHARES} shares
   */
  public StoredItem {
    shares = List.copyOf(shares);
    if (shares.size() > MAX_SHARES) {
      throw new IllegalArgumentException(
          "an item has at most %d shares, this one %d".formatted(MAX_SHARES, shares.size()));
    }
    changes = List.copyOf(changes);
    if (changes.isEmpty() || changes.size() > MAX_CHANGES) {
      throw new IllegalArgumentException(
          "an item has its last 1 to %d changes, this one %d"
              .formatted(MAX_CHANGES, changes.size()));
    }
  }

  /** The transition that made it what it is: its version, which never recurs. */
  public Nonce change() {
    return changes.getFirst();
  }

  /**
   * An item that is moved now.
   *
   * @param before as it was; null if it is not there. Then its token begins with the time, which is
   *     more than any it may have had.
   * @param since now, in whole milliseconds
   */
  static StoredItem moved(
      @Nullable StoredItem before,
      ItemKey key,
      String status,
      String editor,
      @Nullable String lockedBy,
      List<Share> shares,
      Instant since,
      Nonce change) {
    long token = before == null ? since.toEpochMilli() : before.token + 1;
    Stream<Nonce> earlier = before == null ? Stream.empty() : before.changes.stream();
    List<Nonce> changes = Stream.concat(Stream.of(change), earlier).limit(MAX_CHANGES).toList();
    return new StoredItem(key, status, editor, lockedBy, shares, since, token, changes);
  }

  /**
   * Whether it would still show that a transition had moved it from there, had one done so.
   *
   * @param from the change that the transition found; null if it found no item
   */
  boolean remembersWhatFollowed(@Nullable Nonce from) {
    return from == null ? changes.size() < MAX_CHANGES : changes.contains(from);
  }
}
