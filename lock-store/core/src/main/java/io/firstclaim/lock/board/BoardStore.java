package io.firstclaim.lock.board;

import io.firstclaim.lock.Effects;
import io.firstclaim.lock.EffectsRefusedException;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the items of one board, and writes several of them at once or none. Items never expire.
 * Move them with {@link StatusBoard}, which decides what may be written.
 *
 * <p>Thread-safe. Every method may block for the client's time limit.
 */
public interface BoardStore {
  /**
   * Those of these items that are there, each by a strongly consistent read, in any order.
   *
   * @param keys at most {@value StatusBoard#MAX_CHANGES}
   * @throws StoreUnavailableException if the store did not answer
   * @throws StoreRefusedException if one is not an item, or must not be read; the message names it
   *     and the remedy
   */
  List<StoredItem> read(Collection<ItemKey> keys);

  /**
   * All items that are there, each by a strongly consistent read, in any order. One that is written
   * meanwhile is as it was before or as it is afterwards.
   *
   * @throws StoreUnavailableException if the store did not answer
   * @throws StoreRefusedException if one is not an item, or must not be read
   */
  List<StoredItem> list();

  /**
   * Writes all of these items and their effects, or nothing. What differs among the items counts
   * more than what is wrong with the effects.
   *
   * @param moves of different items, 1 to {@value StatusBoard#MAX_CHANGES}
   * @param effects null for none
   * @param request names this request: the same moves and effects are sent again with the same one.
   *     A store may use it to answer a repetition as it answered the first; nothing rests on that
   * @throws EffectsRefusedException if the items are as expected and the effects cannot be written
   * @throws IllegalArgumentException if they are no effects of this store's kind
   * @throws StoreUnavailableException if nothing was written, nor will be, and it may be tried
   *     again
   * @throws StoreRefusedException if nothing was written, nor will be; the message names the remedy
   */
  MoveResult move(List<Move> moves, @Nullable Effects effects, Nonce request);

  /**
   * The time to write beside what is written, by the store's clock as far as its answers tell it,
   * else by this machine's.
   */
  Instant now();
}
