package io.firstclaim.lock.memory;

import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.board.BoardStore;
import io.firstclaim.lock.board.ItemKey;
import io.firstclaim.lock.board.Move;
import io.firstclaim.lock.board.MoveResult;
import io.firstclaim.lock.board.StoredItem;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A board in the memory of one process, with the same conditions as the real ones; its clock is
 * this machine's. For tests and trials. Thread-safe.
 */
public final class MemoryBoardStore implements BoardStore {
  /** Guarded by this. */
  private final Map<ItemKey, StoredItem> items = new HashMap<>();

  private final TimeSource time;

  /** No items yet. */
  public MemoryBoardStore(TimeSource time) {
    this.time = time;
  }

  @Override
  public synchronized List<StoredItem> read(Collection<ItemKey> keys) {
    return keys.stream().map(items::get).filter(Objects::nonNull).toList();
  }

  @Override
  public synchronized List<StoredItem> list() {
    return List.copyOf(items.values());
  }

  @Override
  public synchronized MoveResult move(List<Move> moves, @Nullable Effects effects, Nonce request) {
    if (!moves.stream().allMatch(move -> move.matches(items.get(move.key())))) {
      return new MoveResult.Differs(
          moves.stream()
              .filter(move -> !move.matches(items.get(move.key())))
              .map(move -> items.get(move.key()))
              .filter(Objects::nonNull)
              .toList());
    }
    switch (effects) {
      case null -> {}
      case MemoryEffects(Runnable write) -> write.run();
      default ->
          throw new IllegalArgumentException(
              "%s cannot be written in memory: it takes MemoryEffects"
                  .formatted(effects.getClass().getSimpleName()));
    }
    moves.forEach(move -> items.put(move.key(), move.next()));
    return new MoveResult.Took();
  }

  @Override
  public Instant now() {
    return time.now().wall();
  }
}
